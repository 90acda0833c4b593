/** Public interface of SDP: offer and answer as text for one audio stream (RFC 8866, RFC 3264). */
export { familyName, familyOf, isIpAddress, isUnspecified } from './audio-line.ts';
export {
  CODEC_PREFERENCES,
  type CodecPreference,
  comfortNoise,
  isCodecPreference,
  offeredCodecs,
  offeredComfortNoise,
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
  readAnswer,
  readOffer,
  revise,
} from './offer-answer.ts';
export type { LocalTransport } from './secure-transport.ts';
export type {
  AddressFamily,
  AudioSession,
  Codec,
  SdpProblem,
  SrtpPolicy,
  SrtpSuite,
} from './types.ts';
