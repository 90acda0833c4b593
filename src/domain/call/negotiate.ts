import { err, ok, type Result } from '../../base/result.ts';
import {
  type AudioSession,
  buildAnswer,
  buildOffer,
  chooseAudio,
  type LocalCrypto,
  OFFERED_SUITES,
  readAnswer,
  readOffer,
  revise,
  type SdpProblem,
  type SrtpPolicy,
  type SrtpSuite,
  srtpKeyBytes,
  staticCodec,
} from '../../protocol/sdp/sdp.ts';
import type { CodecName, MediaProtection, MediaSession, SrtpRule } from './needs.ts';

/** Our codecs in order of preference. */
const CODECS: readonly CodecName[] = ['PCMU', 'PCMA'];
const TELEPHONE_EVENT_PAYLOAD_TYPE = 101;
const PTIME_MS = 20;
const FIRST_VERSION = 1;

/** Offer and answer of one leg over its whole life: what we said last, and what that settled. */
export class Negotiation {
  readonly #local: { readonly address: string; readonly port: number; readonly sessionId: number };
  readonly #bytes: (length: number) => Uint8Array;
  /** Our keys for SRTP: one a suite, as long as packets go on being protected. */
  readonly #keys = new Map<SrtpSuite, Uint8Array>();
  #said: { readonly sdp: string; readonly version: number } | undefined;

  /** `sessionId`: any number that no other session of ours has (RFC 8866 §5.2). `bytes`: random ones, for keys. */
  constructor(
    local: { address: string; port: number },
    sessionId: number,
    bytes: (length: number) => Uint8Array,
  ) {
    this.#local = { ...local, sessionId };
    this.#bytes = bytes;
  }

  /** The peer offers: our answer, and what it settles. */
  answer(
    offerSdp: string,
    srtp: SrtpRule,
    ipv6: boolean,
  ): Result<{ readonly sdp: string; readonly remote: MediaSession }, SdpProblem> {
    const offer = readOffer(offerSdp);
    if (!offer.ok) return offer;
    const choice = chooseAudio(offer.value, { codecs: CODECS, srtp: srtp.policy, ipv6 });
    if (!choice.ok) return choice;
    const protection = this.#protection(choice.value);
    const key = protection === 'none' ? undefined : protection.send;
    this.#said = revise(
      this.#said,
      (version) => buildAnswer(offer.value, choice.value, this.#endpoint(version), key),
      FIRST_VERSION,
    );
    const remote = mediaSession(choice.value, protection);
    return remote.ok ? ok({ sdp: this.#said.sdp, remote: remote.value }) : remote;
  }

  /** We offer. */
  offer(srtp: SrtpRule): string {
    const crypto: LocalCrypto[] = srtp.offered
      ? OFFERED_SUITES.map((suite, index) => ({ tag: index + 1, suite, key: this.#key(suite) }))
      : [];
    this.#said = revise(
      this.#said,
      (version) =>
        buildOffer({
          ...this.#endpoint(version),
          codecs: CODECS.flatMap((name) => staticCodec(name) ?? []),
          telephoneEventPayloadType: TELEPHONE_EVENT_PAYLOAD_TYPE,
          direction: 'sendrecv',
          crypto,
          plainToo: srtp.policy === 'optional',
        }),
      FIRST_VERSION,
    );
    return this.#said.sdp;
  }

  /** The peer's answer to our last offer. */
  settle(answerSdp: string): Result<MediaSession, SdpProblem> {
    const session = readAnswer(this.#said?.sdp ?? '', answerSdp);
    return session.ok
      ? mediaSession(session.value, this.#protection(session.value), OFFERED)
      : session;
  }

  #protection({ crypto }: AudioSession): MediaProtection {
    if (crypto === undefined) {
      // Packets in the clear are not counted: a key from before must not be used again.
      this.#keys.clear();
      return 'none';
    }
    const { suite, key: receive, mkiBytes: receiveMkiBytes } = crypto;
    return { suite, send: this.#key(suite), receive, receiveMkiBytes };
  }

  #key(suite: SrtpSuite): Uint8Array {
    const known = this.#keys.get(suite);
    if (known !== undefined) return known;
    const key = this.#bytes(srtpKeyBytes(suite));
    this.#keys.set(suite, key);
    return key;
  }

  #endpoint(version: number) {
    return { ...this.#local, version, ptimeMs: PTIME_MS };
  }
}

/** Whether an offer can be answered at all. */
export function checkOffer(
  sdp: string,
  wishes: { readonly srtp: SrtpPolicy; readonly ipv6: boolean },
): SdpProblem | undefined {
  const offer = readOffer(sdp);
  if (!offer.ok) return offer.error;
  const choice = chooseAudio(offer.value, { codecs: CODECS, ...wishes });
  return choice.ok ? undefined : choice.error;
}

/** `ours`: the payload types of our offer, when the peer has answered; else the peer's hold both ways. */
function mediaSession(
  { codec, telephoneEvent, address, port, ptimeMs, direction }: AudioSession,
  protection: MediaProtection,
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
    protection,
  });
}

/** What our offers name (RFC 3264 §6.1: each side receives under the numbers of its own description). */
const OFFERED = {
  audio: (name: CodecName) => staticCodec(name)?.payloadType,
  events: TELEPHONE_EVENT_PAYLOAD_TYPE,
};
