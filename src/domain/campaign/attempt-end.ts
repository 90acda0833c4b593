/** Evaluates the end of an attempt: its stored result, the contact's next status, and the event for `notify_url`. */
import type { CallUuid } from '../../base/ids.ts';
import type { AttemptFinish, CampaignCallEnd } from './needs.ts';
import { asBefore, nextStep, outcomeOf } from './outcome.ts';
import type { Campaign, CampaignEvent, Contact, ContactStatus } from './types.ts';
import { dayOf } from './zoned-time.ts';

/** Default values for the end of a call without a known outcome. */
export const UNKNOWN_END = {
  hangupCause: 'UNKNOWN',
  hangupCauseCode: 0,
  machine: undefined,
} as const;

/** End of an attempt without a call: the process stopped, or failed, before anything was sent. */
export const NO_CALL: CampaignCallEnd = {
  ...UNKNOWN_END,
  answeredUs: undefined,
  endedUs: 0,
  refused: 'unavailable',
};

const TOLD_AS: Partial<
  Record<ContactStatus, Extract<CampaignEvent, { kind: 'contact' }>['outcome']>
> = {
  answered: 'answered',
  no_answer: 'no_answer',
  busy: 'failed',
  failed: 'failed',
  retry_pending: 'retry_scheduled',
  expired: 'expired',
};

/** Returns the data to store when a call has ended. */
export function finishOf(
  campaign: Campaign,
  attempt: {
    readonly callUuid: CallUuid;
    readonly attemptNumber: number;
    readonly placedUs: number;
    readonly firstDialUs: number;
  },
  end: CampaignCallEnd,
): AttemptFinish {
  const { callUuid, attemptNumber: attempts, placedUs, firstDialUs } = attempt;
  const { answeredUs, hangupCause, hangupCauseCode, machine, refused } = end;
  const endedUs = Math.max(end.endedUs, placedUs);
  const day = dayOf(placedUs, campaign.timezone);
  const written = { callUuid, day, answeredUs, endedUs, hangupCause, hangupCauseCode, machine };
  if (refused !== undefined) {
    const contact = { ...asBefore(attempt), counts: false };
    return { ...written, status: 'failed', contact, failure: 'none' };
  }
  const outcome = outcomeOf(end);
  const contact = {
    ...nextStep(campaign, outcome, { attempts, firstDialUs, endedUs }),
    counts: true,
  };
  return {
    ...written,
    status: outcome.status,
    contact,
    failure: outcome.isFailure ? 'counts' : 'resets',
  };
}

export function contactEvent(
  contact: Contact,
  status: ContactStatus,
  atUs: number,
  of: Partial<CampaignCallEnd> & {
    readonly callUuid?: CallUuid;
    readonly from?: string | undefined;
  } = {},
): CampaignEvent {
  const { answeredUs, endedUs = 0 } = of;
  return {
    kind: 'contact',
    outcome: TOLD_AS[status] ?? 'failed',
    atUs,
    contactId: contact.id,
    callUuid: of.callUuid,
    to: contact.to,
    from: of.from,
    hangupCause: of.hangupCause,
    durationMs: answeredUs === undefined ? 0 : Math.round((endedUs - answeredUs) / 1000),
  };
}
