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
import type { CodecName, RemoteMedia } from './needs.ts';

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
  ): Result<{ readonly sdp: string; readonly remote: RemoteMedia }, SdpProblem> {
    const offer = readOffer(offerSdp);
    if (!offer.ok) return offer;
    const choice = chooseAudio(offer.value, CODECS);
    if (!choice.ok) return choice;
    this.#said = revise(
      this.#said,
      (version) => buildAnswer(offer.value, choice.value, this.#endpoint(version)),
      FIRST_VERSION,
    );
    const remote = remoteMedia(choice.value);
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
  settle(answerSdp: string): Result<RemoteMedia, SdpProblem> {
    const session = readAnswer(this.#said?.sdp ?? '', answerSdp);
    return session.ok ? remoteMedia(session.value) : session;
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

function remoteMedia(session: AudioSession): Result<RemoteMedia, SdpProblem> {
  const codec = CODECS.find((name) => name === session.codec.name);
  if (codec === undefined) return err({ kind: 'noCommonCodec', detail: session.codec.name });
  return ok({
    address: session.address,
    port: session.port,
    codec,
    payloadType: session.codec.payloadType,
    telephoneEvent: session.telephoneEvent,
    ptimeMs: session.ptimeMs,
    direction: session.direction,
  });
}
