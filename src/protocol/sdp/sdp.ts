/** Public interface of SDP: offer and answer as text for one audio stream (RFC 8866, RFC 3264). */
export {
  CODEC_WISHES,
  type CodecWish,
  isCodecWish,
  offeredCodecs,
  sameCodec,
  staticCodec,
  telephoneEvent,
} from './codec.ts';
export {
  type AudioRate,
  CODEC_NAMES,
  type CodecName,
  codecProperties,
  isCodecName,
  type OpusSending,
} from './codec-table.ts';
export { OFFERED_SUITES, srtpKeyBytes } from './crypto.ts';
export type { LocalCrypto, LocalEndpoint } from './local.ts';
export {
  buildAnswer,
  buildOffer,
  chooseAudio,
  isHeld,
  type OfferParts,
  readAnswer,
  readOffer,
  revise,
  type Wishes,
} from './offer-answer.ts';
export { parseSdp } from './parse.ts';
export type { LocalTransport } from './secure-transport.ts';
export { serializeSdp } from './serialize.ts';
export type {
  AudioOffer,
  AudioSession,
  Codec,
  Direction,
  DtlsRole,
  Fingerprint,
  MediaOffer,
  SdpProblem,
  SessionDescription,
  SrtpPolicy,
  SrtpSuite,
} from './types.ts';
