/** Public interface for other modules: causes, and the call itself. */

export type { CallLogEntry } from './call-log.ts';
export {
  agreementOf,
  type Consent,
  connectParties,
  consentOf,
  haveOthersAgreed,
  keepConsent,
  mayKeepAudio,
  watchParties,
} from './consent.ts';
export {
  CONTACT_UNREACHABLE,
  HANGUP_CAUSES,
  type HangupCauseKey,
  type HangupSource,
} from './hangup-cause.ts';
export type { QualitySample } from './quality-track.ts';
