/** Public interface of SDP: offer and answer as text for one audio stream (RFC 8866, RFC 3264). */
export {
  type CodecName,
  type CodecPreference,
  isCodecName,
  isCodecPreference,
  offeredCodecs,
  parametersOf,
  sameCodec,
  staticCodec,
  telephoneEvent,
} from './codec.ts';
export { OFFERED_SUITES, srtpKeyBytes } from './crypto.ts';
export type { LocalCrypto, LocalEndpoint } from './local.ts';
export {
  buildAnswer,
  buildOffer,
  chooseAudio,
  readAnswer,
  readOffer,
  revise,
} from './offer-answer.ts';
export type { LocalTransport } from './secure-transport.ts';
export type { AudioSession, Codec, SdpProblem, SrtpPolicy, SrtpSuite } from './types.ts';
