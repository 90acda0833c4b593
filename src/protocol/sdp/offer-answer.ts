/** The offer/answer model for one audio stream (RFC 3264). */
import { RecentMap } from '../../base/recent-map.ts';
import { err, ok, type Result } from '../../base/result.ts';
import {
  against,
  canSend,
  effectiveDirection,
  isUnspecified,
  packetTimeMs,
  readAudioLine,
} from './audio-line.ts';
import { codecsOf, sameCodec, telephoneEvent } from './codec.ts';
import { audioMedia, declined, type LocalEndpoint, localDescription } from './local.ts';
import { parseSdp } from './parse.ts';
import type {
  AudioOffer,
  AudioSession,
  Codec,
  Direction,
  MediaOffer,
  SdpProblem,
} from './types.ts';

export interface OfferParts extends LocalEndpoint {
  /** In our order of preference; payload types as they shall stand. */
  readonly codecs: readonly Codec[];
  /** Payload type of RFC 4733 events at 8000 Hz; undefined: none offered. */
  readonly telephoneEventPayloadType: number | undefined;
  readonly direction: Direction;
}

/** Our offer: one audio line over RTP/AVP. */
export function buildOffer(parts: OfferParts): string {
  const events =
    parts.telephoneEventPayloadType === undefined
      ? []
      : [telephoneEvent(parts.telephoneEventPayloadType)];
  const media = audioMedia(parts, [...parts.codecs, ...events], parts.direction, 'RTP/AVP');
  return localDescription(parts, [media], ['0 0']);
}

/** Reads an offer down to what matters for audio. */
export function readOffer(text: string): Result<MediaOffer, SdpProblem> {
  const known = lately.get(text);
  if (known !== undefined) return known;
  const offer = read(text);
  if (text.length <= LONGEST_KEPT) lately.set(text, offer);
  return offer;
}

/** Offers that were read lately: one is read when a call is admitted and answered, and ours with each answer to it. */
const lately = new RecentMap<Result<MediaOffer, SdpProblem>>(500);
const LONGEST_KEPT = 2048;

function read(text: string): Result<MediaOffer, SdpProblem> {
  const description = parseSdp(text);
  if (!description.ok) return description;
  const audio = readAudioLine(description.value);
  return audio.ok ? ok({ description: description.value, audio: audio.value }) : audio;
}

/**
 * Picks what the call will use: the first offered codec that is among `wanted` (names in upper case), because the
 * offerer's order is its preference (RFC 3264 §6.1). `direction` is what we would like to do.
 */
export function chooseAudio(
  offer: MediaOffer,
  wanted: readonly string[],
  direction: Direction = 'sendrecv',
): Result<AudioSession, SdpProblem> {
  const { audio } = offer;
  const codec = audio.codecs.find(({ name, channels }) => wanted.includes(name) && channels === 1);
  if (codec === undefined) {
    const names = audio.codecs.map(({ name }) => name).join(', ');
    return err({ kind: 'noCommonCodec', detail: `offered: ${names || 'nothing known'}` });
  }
  return ok(sessionOf(audio, codec, direction));
}

const sessionOf = (line: AudioOffer, codec: Codec, direction: Direction): AudioSession => ({
  address: line.address,
  port: line.port,
  codec,
  telephoneEvent: line.telephoneEvents.find((event) => event.clockRateHz === codec.clockRateHz)
    ?.payloadType,
  ptimeMs: packetTimeMs(line),
  direction: against(direction, effectiveDirection(line)),
});

/**
 * Our answer to an offer: the chosen codec alone under the payload types of the offer, every other m-line declined.
 */
export function buildAnswer(offer: MediaOffer, choice: AudioSession, local: LocalEndpoint): string {
  const { codec, telephoneEvent: eventPayloadType } = choice;
  const events =
    eventPayloadType === undefined ? [] : [telephoneEvent(eventPayloadType, codec.clockRateHz)];
  const media = offer.description.media.map((line, index) =>
    index === offer.audio.index
      ? audioMedia(local, [codec, ...events], choice.direction, line.protocol)
      : declined(line),
  );
  // RFC 3264 §6: the answer repeats the t= line of the offer.
  return localDescription(local, media, offer.description.times);
}

/** Reads the peer's answer to an offer of ours. */
export function readAnswer(ourOffer: string, text: string): Result<AudioSession, SdpProblem> {
  const offer = readOffer(ourOffer);
  if (!offer.ok) return offer;
  const answer = parseSdp(text);
  if (!answer.ok) return answer;
  const { index, codecs, direction } = offer.value.audio;
  const line = answer.value.media[index];
  if (line === undefined || line.media !== 'audio') {
    return err({ kind: 'answerMismatch', detail: 'no audio line where we offered one' });
  }
  if (line.port === 0) return err({ kind: 'declined', detail: 'audio declined' });
  const audio = readAudioLine({ ...answer.value, media: [line] });
  if (!audio.ok) return audio;
  const codec = audio.value.codecs.find((theirs) => codecs.some((ours) => sameCodec(ours, theirs)));
  if (codec === undefined) {
    const names = codecsOf(line).map(({ name }) => name);
    return err({ kind: 'noCommonCodec', detail: `answered: ${names.join(', ')}` });
  }
  return ok(sessionOf(audio.value, codec, direction));
}

/**
 * The description to send now, given what we sent last: unchanged text keeps its version, a change raises it by
 * one (RFC 3264 §8). `build` gets the version to write.
 */
export function revise(
  previous: { readonly sdp: string; readonly version: number } | undefined,
  build: (version: number) => string,
  firstVersion: number,
): { readonly sdp: string; readonly version: number } {
  if (previous === undefined) return { sdp: build(firstVersion), version: firstVersion };
  if (build(previous.version) === previous.sdp) return previous;
  const version = previous.version + 1;
  return { sdp: build(version), version };
}

/** True when RTP must not be sent to the peer now. */
export const isHeld = (session: AudioSession): boolean =>
  isUnspecified(session.address) || !canSend(session.direction);
