/** Offer/answer model for one audio stream (RFC 3264). */
import { RecentMap } from '../../base/recent-map.ts';
import { err, ok, type Result } from '../../base/result.ts';
import {
  against,
  effectiveDirection,
  familyName,
  familyOf,
  isIpAddress,
  isUnspecified,
  packetTimeMs,
  readAudioLines,
} from './audio-line.ts';
import {
  answeredCodec,
  codecsOf,
  comfortNoise,
  isOurs,
  sameCodec,
  telephoneEvent,
} from './codec.ts';
import {
  audioMedia,
  declined,
  type LocalCrypto,
  type LocalEndpoint,
  localDescription,
} from './local.ts';
import { parseSdp } from './parse.ts';
import {
  isBundled,
  type LocalTransport,
  roleAgainst,
  sessionAttributes,
} from './secure-transport.ts';
import type {
  AddressFamily,
  AudioOffer,
  AudioSession,
  Codec,
  CryptoLine,
  Direction,
  DtlsAssociation,
  MediaOffer,
  SdpProblem,
  SrtpPolicy,
} from './types.ts';

export interface OfferParts extends LocalEndpoint {
  /** Codecs in order of preference, with the payload types to write. */
  readonly codecs: readonly Codec[];
  /** Payload type of RFC 4733 events at 8000 Hz; undefined omits them. */
  readonly telephoneEventPayloadType: number | undefined;
  /** Payload type of RFC 4733 events at 48 kHz, the clock rate of Opus; undefined omits them. */
  readonly wideTelephoneEventPayloadType?: number;
  readonly direction: Direction;
  /** Local SRTP keys in order of preference. */
  readonly crypto?: readonly LocalCrypto[];
  /**
   * True if the peer may answer with plain RTP although there are keys: RTP/AVP with `a=crypto`, as many phones offer
   * it.
   */
  readonly plainToo?: boolean;
  /** ICE and DTLS parameters for a browser. */
  readonly transport?: LocalTransport;
}

const PLAIN: LocalTransport = { ice: undefined, dtls: undefined, rtcpMux: false, mid: undefined };

/** Builds our offer: one audio line over RTP/AVP, or over RTP/SAVP if it has keys. */
export function buildOffer(parts: OfferParts): string {
  const events =
    parts.telephoneEventPayloadType === undefined
      ? []
      : [telephoneEvent(parts.telephoneEventPayloadType)];
  if (parts.wideTelephoneEventPayloadType !== undefined) {
    events.push(telephoneEvent(parts.wideTelephoneEventPayloadType, 48_000));
  }
  const { direction, crypto = [], plainToo = false, transport = PLAIN } = parts;
  const codecs = [...parts.codecs, ...events];
  const protocol = protocolOf({ secure: crypto.length > 0 && !plainToo, transport });
  const media = audioMedia(parts, { codecs, direction, protocol, crypto, transport });
  const attributes = sessionAttributes(transport, { bundled: true });
  return localDescription(parts, [media], { times: ['0 0'], attributes });
}

function protocolOf(line: { secure: boolean; transport: LocalTransport }): string {
  if (line.transport.dtls !== undefined) return 'UDP/TLS/RTP/SAVPF';
  return line.secure ? 'RTP/SAVP' : 'RTP/AVP';
}

/** Parses the parts of an offer that are relevant to audio. */
export function readOffer(text: string): Result<MediaOffer, SdpProblem> {
  const known = lately.get(text);
  if (known !== undefined) return known;
  const offer = read(text);
  // Descriptions with keys are not cached.
  if (text.length <= LONGEST_RETAINED && !text.includes('a=crypto')) lately.set(text, offer);
  return offer;
}

/** Cache of parsed offers: each is read once when a call is admitted and again when it is answered. */
const lately = new RecentMap<Result<MediaOffer, SdpProblem>>(500);
const LONGEST_RETAINED = 2048;

function read(text: string): Result<MediaOffer, SdpProblem> {
  const description = parseSdp(text);
  if (!description.ok) return description;
  const audio = readAudioLines(description.value);
  return audio.ok ? ok({ description: description.value, audio: audio.value }) : audio;
}

/** Parts of our offer needed to read its answer; the offerer's address is not needed. */
type Asked = Pick<AudioOffer, 'index' | 'codecs' | 'direction' | 'crypto' | 'dtls' | 'secure'>;

/** Cache of our parsed offers. Port and session are removed from the key, so calls to the same peer share an entry. */
const askedLately = new RecentMap<Asked>(100);
const AUDIO_LINE = '\r\nm=audio ';

/** Audio line of our offer. */
function readAsked(offer: string): Result<Asked | undefined, SdpProblem> {
  const head = offer.indexOf(AUDIO_LINE);
  const formats = offer.slice(offer.indexOf(' ', head + AUDIO_LINE.length));
  const isWhole = offer.indexOf('\r\nm=') === head && !offer.slice(0, head).includes('\r\na=');
  const mayKeep =
    head !== -1 && isWhole && offer.length <= LONGEST_RETAINED && !formats.includes('a=crypto');
  const known = mayKeep ? askedLately.get(formats) : undefined;
  if (known !== undefined) return ok(known);
  const parsed = read(offer);
  if (!parsed.ok) return parsed;
  const [requested] = parsed.value.audio;
  if (mayKeep && requested !== undefined) askedLately.set(formats, requested);
  return ok(requested);
}

const BOTH: readonly AddressFamily[] = ['IP4', 'IP6'];

/** Local preferences for answering an offer. */
export interface Wishes {
  /** Codec names in upper case, in order of preference. */
  readonly codecs: readonly string[];
  /** Preferred direction. */
  readonly direction?: Direction;
  readonly srtp?: SrtpPolicy;
  /** Address families of local RTP; default both. */
  readonly families?: readonly AddressFamily[];
  /** True if a local certificate is available, so DTLS may supply keys. */
  readonly dtls?: boolean;
  /** DTLS association of the current session. */
  readonly association?: DtlsAssociation | undefined;
}

/**
 * Selects the first usable audio line and its first supported codec, because the offerer's order is its preference (RFC
 * 3264 §6.1). Lines with SRTP precede lines without, unless SRTP is off.
 */
export function chooseAudio(
  offer: MediaOffer,
  preferences: Wishes,
): Result<AudioSession, SdpProblem> {
  const { direction = 'sendrecv', association } = preferences;
  const choices = offer.audio.map((line) => chooseIn(line, preferences));
  const fitting = choices.flatMap((choice) => (choice.ok ? [choice.value] : []));
  const chosen = fitting.find(({ line, crypto }) => line.dtls ?? crypto) ?? fitting[0];
  if (chosen === undefined) return choices.find(isRefusal) ?? err(NOTHING_FITS);
  return ok(sessionOf(chosen, direction, association));
}

interface Choice {
  readonly line: AudioOffer;
  readonly codec: Codec;
  readonly crypto: CryptoLine | undefined;
}

const NOTHING_FITS: SdpProblem = { kind: 'noAudio', detail: 'no audio line fits' };

const isRefusal = (
  choice: Result<Choice, SdpProblem>,
): choice is Extract<typeof choice, { ok: false }> => !choice.ok;

function chooseIn(
  line: AudioOffer,
  { codecs, srtp = 'optional', families = BOTH, dtls = false }: Wishes,
): Result<Choice, SdpProblem> {
  if (
    line.ice === undefined &&
    isIpAddress(line.address) &&
    !families.includes(familyOf(line.address)) &&
    !isUnspecified(line.address)
  ) {
    const detail = `${familyName(line.address)} media is not supported on this node`;
    return err({ kind: 'unsupportedAddress', detail });
  }
  const codec = line.codecs.find((codec) => codecs.includes(codec.name) && isOurs(codec));
  if (codec === undefined) {
    const names = line.codecs.map(({ name }) => name).join(', ');
    return err({ kind: 'noCommonCodec', detail: `offered: ${names || 'nothing known'}` });
  }
  // WebRTC browsers support only DTLS-SRTP, so the SRTP policy applies only to keys in the description.
  if (line.dtls !== undefined && dtls) return ok({ line, codec, crypto: undefined });
  const crypto = srtp === 'off' ? undefined : line.crypto[0];
  const problem = cryptoProblem(line, crypto, srtp);
  return problem === undefined ? ok({ line, codec, crypto }) : err(problem);
}

function cryptoProblem(
  line: AudioOffer,
  crypto: CryptoLine | undefined,
  srtp: SrtpPolicy,
): SdpProblem | undefined {
  if (crypto !== undefined) return undefined;
  if (line.secure) {
    const detail = srtp === 'off' ? 'SRTP is off for this peer' : 'no crypto suite in common';
    return { kind: 'secureMediaRequired', detail };
  }
  if (srtp !== 'required') return undefined;
  return { kind: 'plainMediaRefused', detail: 'SRTP is required, the peer offers plain RTP' };
}

const sessionOf = (
  { line, codec, crypto }: Choice,
  direction: Direction,
  association?: DtlsAssociation,
): AudioSession => ({
  index: line.index,
  address: line.address,
  family: line.family,
  port: line.port,
  codec,
  telephoneEvent: eventsFor(line, codec)?.payloadType,
  telephoneEventClockHz: eventsFor(line, codec)?.clockRateHz ?? codec.clockRateHz,
  comfortNoise: comfortNoiseFor(line, codec)?.payloadType,
  ptimeMs: packetTimeMs(line),
  direction: against(direction, effectiveDirection(line)),
  crypto,
  dtls:
    line.dtls === undefined
      ? undefined
      : { role: roleAgainst(line.dtls, association), fingerprint: line.dtls.fingerprint },
  // ICE is not used without DTLS: the source address of the peer's packets is sufficient.
  ice: line.dtls === undefined ? undefined : line.ice,
  rtcpMux: line.rtcpMux,
  rtcp: line.rtcp,
  voipMetrics: line.voipMetrics,
  mid: line.mid,
});

/** Local parts of an answer, used as far as the offer requires them. */
export interface AnswerParts {
  /** Local key for the chosen crypto line. */
  readonly key?: Uint8Array | undefined;
  readonly ice?: { readonly ufrag: string; readonly password: string } | undefined;
  /** Fingerprint of the local certificate, `sha-256 AB:…`. */
  readonly fingerprint?: string | undefined;
}

/** Telephone events at the codec's clock rate (RFC 4733 §2.1), otherwise the events at 8000 Hz. */
const eventsFor = ({ telephoneEvents }: AudioOffer, codec: Codec): Codec | undefined =>
  telephoneEvents.find(({ clockRateHz }) => clockRateHz === codec.clockRateHz) ??
  telephoneEvents.find(({ clockRateHz }) => clockRateHz === 8_000);

/** Comfort noise at the codec's clock rate. It does not apply to Opus, which generates its own noise. */
const comfortNoiseFor = (line: AudioOffer, codec: Codec): Codec | undefined =>
  line.comfortNoise.find(
    ({ clockRateHz }) => clockRateHz === codec.clockRateHz && codec.name !== 'OPUS',
  );

/** Builds our answer: only the chosen codec, with the payload types of the offer; all other m-lines are declined. */
export function buildAnswer(
  offer: MediaOffer,
  choice: AudioSession,
  local: LocalEndpoint,
  ours: AnswerParts = {},
): string {
  const { codec, telephoneEvent: eventPayloadType, crypto, direction, mid } = choice;
  const { key, ice, fingerprint } = ours;
  const transport: LocalTransport = {
    ice: choice.ice === undefined ? undefined : ice,
    dtls:
      choice.dtls === undefined || fingerprint === undefined
        ? undefined
        : { fingerprint, setup: choice.dtls.role === 'client' ? 'active' : 'passive' },
    rtcpMux: choice.rtcpMux,
    mid,
  };
  const events =
    eventPayloadType === undefined
      ? []
      : [telephoneEvent(eventPayloadType, choice.telephoneEventClockHz)];
  const keys = crypto === undefined || key === undefined ? [] : [{ ...crypto, key }];
  const comfort =
    choice.comfortNoise === undefined ? [] : [comfortNoise(choice.comfortNoise, codec.clockRateHz)];
  const codecs = [answeredCodec(codec), ...comfort, ...events];
  const media = offer.description.media.map((line, index) =>
    index === choice.index
      ? audioMedia(local, {
          codecs,
          direction,
          protocol: line.protocol,
          crypto: keys,
          transport,
          voipMetrics: choice.voipMetrics,
        })
      : declined(line),
  );
  // RFC 3264 §6: the answer repeats the t= line of the offer.
  return localDescription(local, media, {
    times: offer.description.times,
    attributes: sessionAttributes(transport, { bundled: isBundled(offer.description, mid) }),
  });
}

/** Parses the peer's answer to our offer. */
export function readAnswer(ourOffer: string, text: string): Result<AudioSession, SdpProblem> {
  const requested = readAsked(ourOffer);
  if (!requested.ok) return requested;
  const answer = parseSdp(text);
  if (!answer.ok) return answer;
  const ours = requested.value;
  if (ours === undefined) return err(NOTHING_FITS);
  const { index, codecs, direction } = ours;
  const line = answer.value.media[index];
  if (line === undefined || line.media !== 'audio') {
    return err({ kind: 'answerMismatch', detail: 'no audio line where we offered one' });
  }
  if (line.port === 0) return err({ kind: 'declined', detail: 'audio declined' });
  const audio = readAudioLines({ ...answer.value, media: [line] });
  if (!audio.ok) return audio;
  const theirs = audio.value[0];
  const codec = theirs?.codecs.find((known) => codecs.some((other) => sameCodec(other, known)));
  if (theirs === undefined || codec === undefined) {
    const names = codecsOf(line).map(({ name }) => name);
    return err({ kind: 'noCommonCodec', detail: `answered: ${names.join(', ')}` });
  }
  const crypto = answeredCrypto(ours, theirs);
  return crypto.ok
    ? ok(sessionOf({ line: theirs, codec, crypto: crypto.value }, direction))
    : crypto;
}

/**
 * Finds the line of the answer that matches one of ours by tag and suite (RFC 4568 §5.1.3). It contains the peer's key.
 */
function answeredCrypto(
  ours: Asked,
  theirs: AudioOffer,
): Result<CryptoLine | undefined, SdpProblem> {
  const crypto = theirs.crypto.find(({ tag, suite }) =>
    ours.crypto.some((line) => line.tag === tag && line.suite === suite),
  );
  if (crypto !== undefined) return ok(crypto);
  if (ours.dtls !== undefined && theirs.dtls !== undefined) return ok(undefined);
  if (ours.secure) {
    return err({ kind: 'plainMediaRefused', detail: 'we offered SRTP, the answer has no key' });
  }
  return theirs.secure
    ? err({ kind: 'secureMediaRequired', detail: 'we offered plain RTP, the answer is SRTP' })
    : ok(undefined);
}

/**
 * Next description to send: unchanged text keeps its version, a change increments it by one (RFC 3264 §8). `build`
 * receives the version to write.
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
