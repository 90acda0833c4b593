import type { CallbackParameters } from '../callback/types.ts';
import type { ReferOutcome } from './needs.ts';

/** What came of a REFER, as callbacks tell it; '' where there is nothing to tell. */
export const referParameters = (to: string, outcome: ReferOutcome): CallbackParameters => [
  ['ReferStatus', outcome.status],
  ['ReferTo', to],
  ['ReferSipResponseCode', String(outcome.answered ?? '')],
  ['NotifySipResponseCode', String(outcome.notified ?? '')],
  ['ReferReason', outcome.detail ?? ''],
];
