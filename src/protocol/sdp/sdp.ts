/** Front door of SDP: offer and answer for one audio stream (RFC 8866, RFC 3264). Text in, text out. */
export { staticCodec } from './codec.ts';
export type { LocalEndpoint } from './local.ts';
export {
  buildAnswer,
  buildOffer,
  chooseAudio,
  isHeld,
  type OfferParts,
  readAnswer,
  readOffer,
  revise,
} from './offer-answer.ts';
export { parseSdp } from './parse.ts';
export { serializeSdp } from './serialize.ts';
export type {
  AudioOffer,
  AudioSession,
  Codec,
  Direction,
  MediaOffer,
  SdpProblem,
  SessionDescription,
} from './types.ts';
