/** Derives a contact's next status from the end of a call (dialect §3.11, contact statuses). */
import { HOUR_MS } from '../../base/duration.ts';
import { HANGUP_CAUSES, type HangupCauseKey } from '../call/types.ts';
import type { CampaignCallEnd } from './needs.ts';
import type {
  Attempt,
  AttemptStatus,
  Campaign,
  Contact,
  ContactReason,
  ContactStatus,
} from './types.ts';

export interface Outcome {
  readonly status: Exclude<AttemptStatus, 'dialling'>;
  readonly machine: boolean;
  /** True for a failure of the carrier, the network or the answer URL, as opposed to the called person. */
  readonly isFailure: boolean;
}

const codesOf = (keys: readonly HangupCauseKey[]): ReadonlySet<number> =>
  new Set(keys.map((key) => HANGUP_CAUSES[key].code));

const CARRIER_FAILURES = codesOf([
  'requestTimeout',
  'carrierError',
  'carrierCongestion',
  'authFailed',
  'networkError',
  'internalError',
  'routingError',
  'unknownCallerId',
]);
const DOCUMENT_FAILURES = codesOf(['answerUrlError', 'invalidAnswerXml']);

const NO_ANSWER: ReadonlySet<string> = new Set(['NO_ANSWER', 'USER_NOT_REGISTERED']);

const DEFAULT_DELAY_MS = HOUR_MS;

/** Returns the outcome of a call. An answered call counts as `answered` however it ended, unless no document could be run. */
export function outcomeOf(end: CampaignCallEnd): Outcome {
  const { answeredUs, hangupCause, hangupCauseCode, machine = false } = end;
  const nothingToHear = DOCUMENT_FAILURES.has(hangupCauseCode);
  if (answeredUs !== undefined && !nothingToHear) {
    return { status: 'answered', machine, isFailure: false };
  }
  const isFailure = nothingToHear || CARRIER_FAILURES.has(hangupCauseCode);
  if (NO_ANSWER.has(hangupCause)) return { status: 'no_answer', machine: false, isFailure };
  if (hangupCause === 'USER_BUSY') return { status: 'busy', machine: false, isFailure };
  return { status: 'failed', machine: false, isFailure };
}

/** Status of a contact after an attempt. */
export interface NextStep {
  readonly status: ContactStatus;
  readonly reason: ContactReason | undefined;
  readonly dueUs: number | undefined;
}

/** Returns the contact's next status. `attempts` includes the attempt that just ended. */
export function nextStep(
  { retry }: Pick<Campaign, 'retry'>,
  { status, machine }: Outcome,
  made: { readonly attempts: number; readonly firstDialUs: number; readonly endedUs: number },
): NextStep {
  const key = status === 'answered' ? 'machine' : status;
  const isWanted = (status !== 'answered' || machine) && retry.on.includes(key);
  if (!isWanted || made.attempts > retry.attempts) {
    return { status, reason: undefined, dueUs: undefined };
  }
  const { delaysMs } = retry;
  const index = Math.min(made.attempts, delaysMs.length) - 1;
  const dueUs = made.endedUs + (delaysMs[index] ?? DEFAULT_DELAY_MS) * 1000;
  if (dueUs > retryEndUs(retry.windowMs, made.firstDialUs)) {
    return { status: 'expired', reason: 'retry_window_over', dueUs: undefined };
  }
  return { status: 'retry_pending', reason: undefined, dueUs };
}

/** Returns whether the retry window has passed while the retry was waiting. */
export const isRetryOver = ({ retry }: Pick<Campaign, 'retry'>, contact: Contact, nowUs: number) =>
  contact.status === 'retry_pending' &&
  contact.firstDialUs !== undefined &&
  nowUs > retryEndUs(retry.windowMs, contact.firstDialUs);

const retryEndUs = (windowMs: number, firstDialUs: number): number => firstDialUs + windowMs * 1000;

/** Restores the contact after an attempt that sent nothing. */
export const asBefore = ({
  attemptNumber,
  placedUs,
}: Pick<Attempt, 'attemptNumber' | 'placedUs'>): NextStep =>
  attemptNumber > 1
    ? { status: 'retry_pending', reason: undefined, dueUs: placedUs }
    : { status: 'pending', reason: undefined, dueUs: undefined };
