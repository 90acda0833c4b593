import { err, ok, type Result } from '../../base/result.ts';
import {
  type AudioSession,
  buildAnswer,
  buildOffer,
  chooseAudio,
  readAnswer,
  readOffer,
  revise,
  type SdpProblem,
  staticCodec,
} from '../../protocol/sdp/sdp.ts';
import type { CodecName, MediaSession } from './needs.ts';

/** Our codecs in order of preference. */
const CODECS: readonly CodecName[] = ['PCMU', 'PCMA'];
const TELEPHONE_EVENT_PAYLOAD_TYPE = 101;
const PTIME_MS = 20;
const FIRST_VERSION = 1;

/** Offer and answer of one leg over its whole life: what we said last, and what that settled. */
export class Negotiation {
  readonly #local: { readonly address: string; readonly port: number; readonly sessionId: number };
  #said: { readonly sdp: string; readonly version: number } | undefined;

  /** `sessionId`: any number that no other session of ours has (RFC 8866 §5.2). */
  constructor(local: { address: string; port: number }, sessionId: number) {
    this.#local = { ...local, sessionId };
  }

  /** The peer offers: our answer, and what it settles. */
  answer(
    offerSdp: string,
  ): Result<{ readonly sdp: string; readonly remote: MediaSession }, SdpProblem> {
    const offer = readOffer(offerSdp);
    if (!offer.ok) return offer;
    const choice = chooseAudio(offer.value, CODECS);
    if (!choice.ok) return choice;
    this.#said = revise(
      this.#said,
      (version) => buildAnswer(offer.value, choice.value, this.#endpoint(version)),
      FIRST_VERSION,
    );
    const remote = mediaSession(choice.value);
    return remote.ok ? ok({ sdp: this.#said.sdp, remote: remote.value }) : remote;
  }

  /** We offer. */
  offer(): string {
    this.#said = revise(
      this.#said,
      (version) =>
        buildOffer({
          ...this.#endpoint(version),
          codecs: CODECS.flatMap((name) => staticCodec(name) ?? []),
          telephoneEventPayloadType: TELEPHONE_EVENT_PAYLOAD_TYPE,
          direction: 'sendrecv',
        }),
      FIRST_VERSION,
    );
    return this.#said.sdp;
  }

  /** The peer's answer to our last offer. */
  settle(answerSdp: string): Result<MediaSession, SdpProblem> {
    const session = readAnswer(this.#said?.sdp ?? '', answerSdp);
    return session.ok ? mediaSession(session.value, OFFERED) : session;
  }

  #endpoint(version: number) {
    return { ...this.#local, version, ptimeMs: PTIME_MS };
  }
}

/** Whether an offer can be answered at all; asked before anything is spent on a call. */
export function checkOffer(sdp: string): SdpProblem | undefined {
  const offer = readOffer(sdp);
  if (!offer.ok) return offer.error;
  const choice = chooseAudio(offer.value, CODECS);
  return choice.ok ? undefined : choice.error;
}

/** `ours`: the payload types of our offer, when the peer has answered; else the peer's hold both ways. */
function mediaSession(
  { codec, telephoneEvent, address, port, ptimeMs, direction }: AudioSession,
  ours?: { readonly audio: (name: CodecName) => number | undefined; readonly events: number },
): Result<MediaSession, SdpProblem> {
  const name = CODECS.find((known) => known === codec.name);
  if (name === undefined) return err({ kind: 'noCommonCodec', detail: codec.name });
  const { payloadType: send, clockRateHz, channels, fmtp } = codec;
  return ok({
    address,
    port,
    codec: { name, clockRate: clockRateHz, sampleRate: clockRateHz, channels, fmtp },
    payloadType: { send, receive: ours?.audio(name) ?? send },
    telephoneEvent:
      telephoneEvent === undefined
        ? undefined
        : { send: telephoneEvent, receive: ours?.events ?? telephoneEvent },
    ptimeMs,
    direction,
    protection: 'none',
  });
}

/** What our offers name (RFC 3264 §6.1: each side receives under the numbers of its own description). */
const OFFERED = {
  audio: (name: CodecName) => staticCodec(name)?.payloadType,
  events: TELEPHONE_EVENT_PAYLOAD_TYPE,
};
