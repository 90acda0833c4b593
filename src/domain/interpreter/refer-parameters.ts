import type { CallbackParameters } from '../callback/types.ts';
import type { ReferOutcome } from './needs.ts';

/** Callback parameters for the outcome of a REFER; unknown values are ''. */
export const referParameters = (to: string, outcome: ReferOutcome): CallbackParameters => [
  ['ReferStatus', outcome.status],
  ['ReferTo', to],
  ['ReferSipResponseCode', String(outcome.answered ?? '')],
  ['NotifySipResponseCode', String(outcome.notified ?? '')],
  ['ReferReason', outcome.detail ?? ''],
];
