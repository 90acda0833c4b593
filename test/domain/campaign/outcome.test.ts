import { describe, expect, it } from 'vitest';
import { asCallUuid } from '../../../src/base/ids.ts';
import { HANGUP_CAUSES, type HangupCauseKey } from '../../../src/domain/call/types.ts';
import { contactEvent, finishOf, UNKNOWN_END } from '../../../src/domain/campaign/attempt-end.ts';
import type { CampaignCallEnd } from '../../../src/domain/campaign/needs.ts';
import {
  asBefore,
  isRetryOver,
  nextStep,
  outcomeOf,
} from '../../../src/domain/campaign/outcome.ts';
import type { Campaign, Contact } from '../../../src/domain/campaign/types.ts';

const MINUTE_US = 60_000_000;
const PLACED_US = 1_000 * MINUTE_US;

const ended = (key: HangupCauseKey, over: Partial<CampaignCallEnd> = {}): CampaignCallEnd => ({
  answeredUs: undefined,
  endedUs: PLACED_US + MINUTE_US,
  hangupCause: HANGUP_CAUSES[key].cause,
  hangupCauseCode: HANGUP_CAUSES[key].code,
  machine: undefined,
  refused: undefined,
  ...over,
});

const campaign = (over: Partial<Campaign['retry']> = {}): Pick<Campaign, 'retry' | 'timezone'> => ({
  timezone: 'UTC',
  retry: {
    attempts: 2,
    delaysMs: [60_000, 120_000],
    windowMs: 600_000,
    on: ['busy', 'no_answer', 'failed'],
    ...over,
  },
});

describe('the outcome of a campaign call', () => {
  it.each([
    ['normal', true, 'answered', false],
    ['carrierError', true, 'answered', false],
    ['answerUrlError', true, 'failed', true],
    ['invalidAnswerXml', true, 'failed', true],
    ['answerUrlError', false, 'failed', true],
    ['busy', false, 'busy', false],
    ['busyEverywhere', false, 'busy', false],
    ['noAnswer', false, 'no_answer', false],
    ['endpointNotRegistered', false, 'no_answer', false],
    ['declined', false, 'failed', false],
    ['unallocated', false, 'failed', false],
    ['requestTimeout', false, 'failed', true],
    ['carrierCongestion', false, 'failed', true],
    ['unknownCallerId', false, 'failed', true],
    ['networkError', false, 'failed', true],
  ] as const)('after %s, answered: %s', (key, isAnswered, status, isFailure) => {
    const end = ended(key, isAnswered ? { answeredUs: PLACED_US } : {});
    expect(outcomeOf(end)).toEqual({ status, machine: false, isFailure });
  });
});

describe('the next step of a contact', () => {
  const stepAfter = (
    attempts: number,
    over: Partial<Campaign['retry']> = {},
    outcome: Partial<ReturnType<typeof outcomeOf>> = {},
  ) =>
    nextStep(
      campaign(over),
      { status: 'busy', machine: false, isFailure: false, ...outcome },
      { attempts, firstDialUs: PLACED_US, endedUs: PLACED_US + MINUTE_US },
    );

  it('is a retry after the delay of its number, at most as often as planned', () => {
    const step = { status: 'retry_pending', reason: undefined };
    expect(stepAfter(1)).toEqual({ ...step, dueUs: PLACED_US + 2 * MINUTE_US });
    expect(stepAfter(2)).toEqual({ ...step, dueUs: PLACED_US + 3 * MINUTE_US });
    expect(stepAfter(3)).toEqual({ status: 'busy', reason: undefined, dueUs: undefined });
    // The last delay applies to all further retries.
    expect(stepAfter(3, { attempts: 5 })).toEqual({ ...step, dueUs: PLACED_US + 3 * MINUTE_US });
    expect(stepAfter(1, { attempts: 0 })).toMatchObject({ status: 'busy', dueUs: undefined });
  });

  it('expires if the retry would be after the window', () => {
    expect(stepAfter(1, { windowMs: 120_000 })).toMatchObject({ status: 'retry_pending' });
    expect(stepAfter(1, { windowMs: 119_999 })).toEqual({
      status: 'expired',
      reason: 'retry_window_over',
      dueUs: undefined,
    });
  });

  it('is a retry after an answer only by a machine, and only if wanted', () => {
    const on = ['machine'] as const;
    expect(stepAfter(1, { on }, { status: 'answered' }).status).toBe('answered');
    expect(stepAfter(1, { on }, { status: 'answered', machine: true }).status).toBe(
      'retry_pending',
    );
    expect(stepAfter(1, {}, { status: 'answered', machine: true }).status).toBe('answered');
    expect(stepAfter(1, { on }).status).toBe('busy');
  });

  it('has no retry after the window', () => {
    const waiting = { status: 'retry_pending', firstDialUs: PLACED_US } as Contact;
    const endUs = PLACED_US + 10 * MINUTE_US;
    expect(isRetryOver(campaign(), waiting, endUs)).toBe(false);
    expect(isRetryOver(campaign(), waiting, endUs + 1)).toBe(true);
    expect(isRetryOver(campaign(), { ...waiting, status: 'pending' }, endUs + 1)).toBe(false);
  });

  it('is what it was before an attempt without a call', () => {
    expect(asBefore({ attemptNumber: 1, placedUs: PLACED_US })).toEqual({
      status: 'pending',
      reason: undefined,
      dueUs: undefined,
    });
    expect(asBefore({ attemptNumber: 2, placedUs: PLACED_US })).toEqual({
      status: 'retry_pending',
      reason: undefined,
      dueUs: PLACED_US,
    });
  });
});

describe('the end of an attempt', () => {
  const attempt = {
    callUuid: asCallUuid('00000000-0000-4000-8000-000000000001'),
    attemptNumber: 1,
    placedUs: PLACED_US,
    firstDialUs: PLACED_US,
  };
  const finish = (end: CampaignCallEnd) => finishOf(campaign() as Campaign, attempt, end);

  it('counts failures, and begins to count again after other calls', () => {
    expect(finish(ended('networkError'))).toMatchObject({
      failure: 'counts',
      contact: { counts: true },
    });
    expect(finish(ended('busy'))).toMatchObject({ failure: 'resets', contact: { counts: true } });
  });

  it('counts nothing without a call, and never ends before its start', () => {
    expect(
      finish({ ...ended('busy'), ...UNKNOWN_END, endedUs: 0, refused: 'stale' }),
    ).toMatchObject({
      status: 'failed',
      failure: 'none',
      endedUs: PLACED_US,
      contact: { status: 'pending', counts: false },
    });
  });
});

describe('the event of a contact', () => {
  it('has the time since the answer as its duration', () => {
    const contact = { id: 7, to: '12125550100' } as Contact;
    const end = ended('normal', { answeredUs: PLACED_US });
    expect(contactEvent(contact, 'answered', PLACED_US, end)).toMatchObject({
      outcome: 'answered',
      contactId: 7,
      durationMs: 60_000,
    });
    expect(contactEvent(contact, 'busy', PLACED_US, ended('busy'))).toMatchObject({
      outcome: 'failed',
      durationMs: 0,
    });
  });
});
