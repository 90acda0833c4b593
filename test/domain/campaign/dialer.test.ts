import { beforeEach, describe, expect, it } from 'vitest';
import { wallUs } from '../../../src/base/clock.ts';
import { ServiceError } from '../../../src/base/errors.ts';
import type { Campaign } from '../../../src/domain/campaign/types.ts';
import { contactRows, OWNER } from './records.ts';
import { HOUR_MS, MINUTE_MS, openStage } from './stage.ts';

type Stage = Awaited<ReturnType<typeof openStage>>;
const SECOND_MS = 1000;
const us = (iso: string): number => Date.parse(iso) * 1000;
const [FIRST = '', SECOND = '', THIRD = ''] = contactRows(3).map(({ to }) => to);

describe('a running campaign', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage();
  });

  it('calls every contact in order within the concurrency limit, and completes', async () => {
    const campaign = await stage.ready({ maxConcurrent: 2 }, 5);
    await stage.start(campaign);
    await stage.clock.advance(0);
    expect(stage.calls.dialled.map(({ to }) => to)).toEqual([FIRST, SECOND]);
    expect((await stage.get(campaign)).counters).toMatchObject({ pending: 3, dialling: 2 });
    await stage.clock.advance(10 * SECOND_MS);
    expect(stage.calls.dialled).toHaveLength(5);
    expect(stage.calls.highest).toBe(2);
    expect(await stage.state(campaign)).toBe('completed');
    expect((await stage.get(campaign)).counters).toMatchObject({ answered: 5, dialling: 0 });
    expect(stage.reported).toEqual([
      'started',
      ...Array.from({ length: 5 }, () => 'contact.answered'),
      'completed',
    ]);
  });

  it('uses a changed plan when the change resolves', async () => {
    const campaign = await stage.ready({ maxConcurrent: 1 }, 3);
    await stage.start(campaign);
    await stage.clock.advance(0);
    const changed = { ...campaign, name: 'Renamed' };
    await stage.store.campaigns.change(campaign.id, ['running'], { name: changed.name }, []);
    await stage.dialer.changed(changed);
    expect(await stage.dialer.running(OWNER.accountId)).toMatchObject([{ name: 'Renamed' }]);
  });

  it('reuses a slot as soon as it is free', async () => {
    const campaign = await stage.ready({ maxConcurrent: 1 }, 3);
    await stage.start(campaign);
    await stage.clock.advance(5 * SECOND_MS);
    const begun = stage.calls.dialled.map(({ atMs }) => atMs - stage.clock.wallMs());
    expect(begun).toEqual([-5000, -4000, -3000]);
  });

  it('waits for a slot of the account and uses it when another call ends', async () => {
    const campaign = await stage.ready({}, 1);
    stage.calls.limit = 0;
    await stage.start(campaign);
    await stage.clock.advance(2 * HOUR_MS);
    expect(await stage.state(campaign)).toBe('running');
    expect((await stage.campaigns.get(OWNER, campaign.id)).ok).toBe(true);
    expect(stage.calls.dialled).toEqual([]);
    stage.calls.limit = 1;
    await stage.clock.advance(2 * SECOND_MS);
    expect(stage.calls.dialled).toHaveLength(1);
  });

  it('uses a slot of the account immediately when a call of another campaign ends', async () => {
    stage.calls.limit = 1;
    stage.calls.scripts.set('*', [{ cause: 'answered', afterMs: 300 }]);
    const first = await stage.ready({}, 1);
    const second = await stage.ready({ name: 'b' }, contactRows(1, { to: '14155550100' }));
    await stage.start(first);
    await stage.start(second);
    await stage.clock.advance(299);
    expect(stage.calls.dialled.map(({ campaignId }) => campaignId)).toEqual([first.id]);
    await stage.clock.advance(1);
    expect(stage.calls.dialled.map(({ campaignId }) => campaignId)).toEqual([first.id, second.id]);
  });

  it('does not wait for the carrier of another campaign', async () => {
    const first = await stage.ready({}, 1);
    const second = await stage.ready(
      { name: 'b' },
      contactRows(2).map((row) => ({ ...row, to: row.to.replace('1212', '1415') })),
    );
    stage.calls.refuses = ({ campaignId }) =>
      campaignId === first.id ? { kind: 'full', of: 'carrier', retryAfterMs: 500 } : undefined;
    await stage.start(first);
    await stage.start(second);
    await stage.clock.advance(100);
    expect(stage.calls.dialled).toHaveLength(2);
  });

  it('places at most 16 calls of an account at a time', async () => {
    stage.calls.placingMs = () => SECOND_MS;
    const campaign = await stage.ready({ maxConcurrent: 40 }, 40);
    await stage.start(campaign);
    await stage.clock.advance(500);
    expect(stage.calls.running).toBe(16);
    await stage.clock.advance(SECOND_MS);
    expect(stage.calls.dialled).toHaveLength(16);
  });

  it('shares the slots of an account with its other campaigns', async () => {
    stage.calls.limit = 4;
    stage.calls.scripts.set('*', [{ cause: 'answered', afterMs: 1000 }]);
    const first = await stage.ready({ maxConcurrent: 4 }, 40);
    const second = await stage.ready(
      { maxConcurrent: 4, name: 'b' },
      contactRows(40).map((row) => ({ ...row, to: row.to.replace('1212', '1415') })),
    );
    await stage.start(first);
    await stage.start(second);
    await stage.clock.advance(8 * SECOND_MS);
    const of = (id: string) => stage.calls.dialled.filter(({ campaignId }) => campaignId === id);
    expect(of(first.id).length + of(second.id).length).toBe(stage.calls.dialled.length);
    expect(Math.abs(of(first.id).length - of(second.id).length)).toBeLessThanOrEqual(6);
  });

  it("is queued while the maximum number of the account's campaigns runs", async () => {
    const others = await Promise.all([1, 2, 3].map(() => stage.ready({ maxConcurrent: 1 }, 1)));
    stage.calls.scripts.set('*', [{ cause: 'answered', afterMs: MINUTE_MS }]);
    for (const other of others) await stage.start(other);
    const last = await stage.ready({}, contactRows(1, { to: '14155550100' }));
    await stage.start(last);
    await stage.clock.advance(SECOND_MS);
    expect(await stage.state(last)).toBe('queued');
    await stage.clock.advance(10 * MINUTE_MS);
    expect(await stage.state(last)).toBe('completed');
  });

  it('is queued also if more campaigns than that are started together', async () => {
    stage.calls.scripts.set('*', [{ cause: 'answered', afterMs: MINUTE_MS }]);
    const campaigns: Campaign[] = [];
    for (let count = 0; count < 5; count += 1) campaigns.push(await stage.ready({}, 1));
    await Promise.all(campaigns.map((campaign) => stage.start(campaign)));
    await stage.clock.advance(SECOND_MS);
    const states = async () => (await Promise.all(campaigns.map(stage.state))).sort();
    expect(await states()).toEqual(['queued', 'queued', 'running', 'running', 'running']);
    await stage.clock.advance(10 * MINUTE_MS);
    expect(new Set(await states())).toEqual(new Set(['completed']));
  });

  it('reports a failure before the end if all its contacts have failed', async () => {
    stage.calls.scripts.set('*', [{ cause: 'failed', afterMs: 1000 }]);
    const campaign = await stage.ready({}, 2);
    await stage.start(campaign);
    await stage.clock.advance(10 * SECOND_MS);
    expect(await stage.state(campaign)).toBe('completed');
    expect(stage.reported).toEqual([
      'started',
      'contact.failed',
      'contact.failed',
      'failed:all_contacts_failed',
      'completed',
    ]);
  });

  it('starts and expires at its configured times', async () => {
    const nowUs = wallUs(stage.clock);
    stage.calls.scripts.set('*', [{ cause: 'busy', afterMs: 1000 }]);
    const campaign = await stage.ready(
      {
        scheduledUs: nowUs + HOUR_MS * 1000,
        expiresUs: nowUs + 3 * HOUR_MS * 1000,
        retry: { attempts: 5, delaysMs: [3_000_000], windowMs: 604_800_000, on: ['busy'] },
      },
      1,
    );
    await stage.clock.advance(HOUR_MS - 1);
    expect(await stage.state(campaign)).toBe('ready');
    await stage.clock.advance(SECOND_MS);
    expect(await stage.state(campaign)).toBe('running');
    await stage.clock.advance(2 * HOUR_MS);
    expect(await stage.state(campaign)).toBe('completed');
    expect(stage.calls.dialled).toHaveLength(3);
    expect(await stage.contacts(campaign)).toMatchObject([
      { status: 'expired', reason: 'campaign_expired' },
    ]);
  });
});

describe('retries', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage();
  });
  const retry = {
    attempts: 2,
    delaysMs: [600_000, 1_800_000],
    windowMs: 604_800_000,
    on: ['busy', 'no_answer'],
  } as const;

  it('happen after their delays and end with the last outcome', async () => {
    stage.calls.scripts.set(FIRST, [
      { cause: 'busy', afterMs: 1000 },
      { cause: 'noAnswer', afterMs: 1000 },
      { cause: 'noAnswer', afterMs: 1000 },
    ]);
    const campaign = await stage.ready({ retry }, 1);
    await stage.start(campaign);
    const startMs = stage.clock.wallMs();
    await stage.clock.advance(HOUR_MS);
    expect(stage.calls.dialled.map(({ atMs }) => atMs - startMs)).toEqual([
      0,
      10 * MINUTE_MS + 1000,
      40 * MINUTE_MS + 2000,
    ]);
    expect(await stage.contacts(campaign)).toMatchObject([{ status: 'no_answer', attempts: 3 }]);
    expect(stage.reported.filter((event) => event.startsWith('contact'))).toEqual([
      'contact.retry_scheduled',
      'contact.retry_scheduled',
      'contact.no_answer',
    ]);
  });

  it('happen only for the configured outcomes', async () => {
    stage.calls.scripts.set(FIRST, [{ cause: 'failed', afterMs: 1000 }]);
    stage.calls.scripts.set(SECOND, [{ cause: 'machine', afterMs: 1000 }]);
    const campaign = await stage.ready({ retry }, 3);
    await stage.start(campaign);
    await stage.clock.advance(10 * SECOND_MS);
    expect((await stage.contacts(campaign)).map(({ status }) => status)).toEqual([
      'failed',
      'answered',
      'answered',
    ]);
    expect(await stage.state(campaign)).toBe('completed');
  });

  it('happen after a machine if configured', async () => {
    stage.calls.scripts.set(FIRST, [
      { cause: 'machine', afterMs: 1000 },
      { cause: 'answered', afterMs: 1000 },
    ]);
    const campaign = await stage.ready({ retry: { ...retry, on: ['machine'] } }, 1);
    await stage.start(campaign);
    await stage.clock.advance(HOUR_MS);
    expect(stage.calls.dialled).toHaveLength(2);
    expect(await stage.contacts(campaign)).toMatchObject([{ status: 'answered', attempts: 2 }]);
  });

  it('expire at the end of the retry window', async () => {
    stage.calls.scripts.set(FIRST, [{ cause: 'busy', afterMs: 1000 }]);
    const campaign = await stage.ready(
      { retry: { ...retry, delaysMs: [25 * 60 * 60_000], windowMs: 86_400_000 } },
      1,
    );
    await stage.start(campaign);
    await stage.clock.advance(MINUTE_MS);
    expect(await stage.contacts(campaign)).toMatchObject([
      { status: 'expired', reason: 'retry_window_over' },
    ]);
    expect(stage.reported).toContain('contact.expired');
  });

  it('expire also if a pause outlasts the retry window', async () => {
    stage.calls.scripts.set(FIRST, [{ cause: 'busy', afterMs: 1000 }]);
    const campaign = await stage.ready({ retry: { ...retry, windowMs: 86_400_000 } }, 1);
    await stage.start(campaign);
    await stage.clock.advance(MINUTE_MS);
    await stage.campaigns.pause(OWNER, campaign.id);
    await stage.clock.advance(25 * HOUR_MS);
    await stage.campaigns.resume(OWNER, campaign.id);
    await stage.clock.advance(MINUTE_MS);
    expect(stage.calls.dialled).toHaveLength(1);
    expect(await stage.contacts(campaign)).toMatchObject([{ status: 'expired' }]);
    expect(stage.reported).toContain('contact.expired');
    expect(await stage.state(campaign)).toBe('completed');
  });

  it('expire by the time since the first call', async () => {
    stage.calls.scripts.set(FIRST, [{ cause: 'busy', afterMs: 1000 }]);
    const often = { ...retry, attempts: 9, delaysMs: [10 * HOUR_MS], windowMs: 24 * HOUR_MS };
    const campaign = await stage.ready({ retry: often }, 1);
    await stage.start(campaign);
    await stage.clock.advance(100 * HOUR_MS);
    expect(stage.calls.dialled).toHaveLength(3);
    expect(await stage.contacts(campaign)).toMatchObject([{ status: 'expired', attempts: 3 }]);
  });

  it('count and report no call that rang no phone', async () => {
    stage.calls.scripts.set(FIRST, [
      { cause: 'busy', afterMs: 1000 },
      { cause: 'full', afterMs: 0 },
      { cause: 'busy', afterMs: 1000 },
    ]);
    const campaign = await stage.ready({ retry: { ...retry, attempts: 1 } }, 1);
    const firstDialUs = wallUs(stage.clock);
    await stage.start(campaign);
    await stage.clock.advance(HOUR_MS);
    expect(await stage.contacts(campaign)).toMatchObject([
      { status: 'busy', attempts: 2, firstDialUs },
    ]);
    expect(stage.reported.filter((event) => event.startsWith('contact'))).toEqual([
      'contact.retry_scheduled',
      'contact.failed',
    ]);
  });
});

describe('contacts that are erased', () => {
  it('do not keep their campaign running', async () => {
    const stage = await openStage();
    const retry = {
      attempts: 1,
      delaysMs: [HOUR_MS],
      windowMs: 9 * HOUR_MS,
      on: ['busy'],
    } as const;
    const campaign = await stage.ready({ retry }, 1);
    stage.calls.scripts.set('*', [{ cause: 'busy', afterMs: 1000 }]);
    await stage.start(campaign);
    await stage.clock.advance(10_000);
    expect((await stage.get(campaign)).counters).toMatchObject({ retry_pending: 1 });
    const [contact] = await stage.contacts(campaign);
    expect(await stage.store.campaigns.eraseContacts(contact?.to ?? '', 5)).toBe(1);
    await stage.clock.advance(2 * HOUR_MS);
    expect(await stage.state(campaign)).toBe('completed');
  });
});

describe('contacts that are not called', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage();
  });

  it('are on a do-not-call list or barred, and the contact shows the reason', async () => {
    await stage.campaigns.addDoNotCall(OWNER.accountId, [`+${FIRST}`]);
    stage.calls.refuses = ({ contact }) =>
      contact.to === SECOND ? { kind: 'barred', detail: 'barred' } : undefined;
    const campaign = await stage.ready({}, 3);
    await stage.start(campaign);
    await stage.clock.advance(10 * SECOND_MS);
    expect(stage.calls.dialled.map(({ to }) => to)).toEqual([THIRD]);
    expect(await stage.contacts(campaign)).toMatchObject([
      { status: 'failed', reason: 'do_not_call' },
      { status: 'failed', reason: 'barred' },
      { status: 'answered', reason: undefined },
    ]);
    expect(await stage.state(campaign)).toBe('completed');
  });

  it('have a caller ID that the account may not present, if it is their own', async () => {
    stage.calls.refuses = ({ contact }) =>
      contact.to === FIRST ? { kind: 'unknownCallerId' } : undefined;
    const campaign = await stage.ready(
      { callerIdStrategy: 'per_contact', fixedCallerId: undefined },
      contactRows(2).map((row) => ({ ...row, from: '12025550100' })),
    );
    await stage.start(campaign);
    await stage.clock.advance(10 * SECOND_MS);
    expect(await stage.contacts(campaign)).toMatchObject([
      { status: 'failed', reason: 'no_caller_id' },
      { status: 'answered' },
    ]);
    expect(await stage.state(campaign)).toBe('completed');
    const fixed = await stage.ready({}, 2);
    await stage.start(fixed);
    await stage.clock.advance(10 * SECOND_MS);
    expect(await stage.state(fixed)).toBe('paused:consecutive_failures');
  });

  it('have reached the daily limit over all campaigns, until the next day', async () => {
    stage.settings.maxCallsPerDay = 2;
    const run = async () => {
      const campaign = await stage.ready({}, 1);
      await stage.start(campaign);
      await stage.clock.advance(10 * SECOND_MS);
      return campaign;
    };
    await run();
    await run();
    const third = await run();
    expect(stage.calls.dialled).toHaveLength(2);
    expect(await stage.contacts(third)).toMatchObject([
      { status: 'pending', reason: 'daily_limit', dueUs: us('2026-01-06T00:00:00Z') },
    ]);
    await stage.clock.advance(12 * HOUR_MS);
    expect(stage.calls.dialled).toHaveLength(3);
    expect(await stage.state(third)).toBe('completed');
  });
});

describe('windows', () => {
  const window = {
    hours: [1, 2, 3, 4, 5, 6, 7].map((weekday) => ({
      weekday,
      startMinute: 9 * 60,
      endMinute: 10 * 60,
    })),
    holidays: [],
  };

  it('apply per contact in the timezone of its number', async () => {
    const stage = await openStage(Date.UTC(2026, 0, 5, 0, 30));
    const [first, second] = contactRows(2);
    if (first === undefined || second === undefined) throw new Error('no rows');
    const rows = [first, { ...second, to: '81312345678' }];
    const campaign = await stage.ready({ window, contactTimezone: 'number' }, rows);
    await stage.start(campaign);
    await stage.clock.advance(MINUTE_MS);
    // 09:30 in Tokyo.
    expect(stage.calls.dialled.map(({ to }) => to)).toEqual(['81312345678']);
    expect(await stage.state(campaign)).toBe('paused:window_closed');
    await stage.clock.advance(9 * HOUR_MS);
    expect(stage.calls.dialled.map(({ to }) => to)).toEqual(['81312345678', first.to]);
    expect(await stage.state(campaign)).toBe('completed');
  });

  it('let live calls continue to their end when they close', async () => {
    const stage = await openStage(Date.UTC(2026, 0, 5, 9, 59, 30));
    stage.calls.scripts.set('*', [{ cause: 'answered', afterMs: 20 * SECOND_MS }]);
    const campaign = await stage.ready({ window, maxConcurrent: 1 }, 5);
    await stage.start(campaign);
    await stage.clock.advance(5 * MINUTE_MS);
    expect(await stage.state(campaign)).toBe('paused:window_closed');
    expect(stage.calls.dialled).toHaveLength(2);
    expect((await stage.get(campaign)).counters).toMatchObject({ answered: 2, pending: 3 });
    await stage.clock.advance(24 * HOUR_MS);
    expect(await stage.state(campaign)).toBe('completed');
  });
});

describe('health', () => {
  it('is derived from the state', async () => {
    const stage = await openStage();
    const health = async (id: Parameters<typeof stage.campaigns.get>[1]) => {
      const found = await stage.campaigns.get(OWNER, id);
      return found.ok ? found.value.health : undefined;
    };
    stage.calls.scripts.set('*', [{ cause: 'busy', afterMs: 1000 }]);
    const retry = {
      attempts: 1,
      delaysMs: [3_600_000],
      windowMs: 604_800_000,
      on: ['busy'],
    } as const;
    const campaign = await stage.ready({ retry }, 1);
    expect(await health(campaign.id)).toBe('not_started');
    stage.calls.limit = 0;
    await stage.start(campaign);
    await stage.clock.advance(SECOND_MS);
    expect(await health(campaign.id)).toBe('not_started');
    stage.calls.limit = 1;
    await stage.clock.advance(1500);
    expect(await health(campaign.id)).toBe('active');
    await stage.clock.advance(30 * SECOND_MS);
    expect(await health(campaign.id)).toBe('active');
    await stage.clock.advance(90 * SECOND_MS);
    expect(await health(campaign.id)).toBe('idle');
    stage.calls.refuses = () => ({ kind: 'unavailable' });
    await stage.clock.advance(HOUR_MS + 4 * MINUTE_MS);
    expect(await health(campaign.id)).toBe('stalled');
    expect(stage.reported.filter((event) => event.startsWith('stalled'))).toEqual([
      'stalled:unavailable',
    ]);
  });
});

describe('the dialer after a crash', () => {
  it('closes open attempts from the call records and calls no contact twice', async () => {
    const stage = await openStage();
    stage.calls.scripts.set('*', [{ cause: 'answered', afterMs: 10 * SECOND_MS }]);
    const campaign = await stage.ready({ maxConcurrent: 2 }, 4);
    await stage.start(campaign);
    await stage.clock.advance(SECOND_MS);
    stage.dialer.stop();
    // The store accepts nothing more from the dead process.
    const { finish } = stage.store.campaigns;
    Object.assign(stage.store.campaigns, { finish: async () => undefined });
    await stage.clock.advance(MINUTE_MS);
    Object.assign(stage.store.campaigns, { finish });
    expect((await stage.get(campaign)).counters).toMatchObject({ dialling: 2, pending: 2 });
    const next = stage.newDialer();
    await next.resumeAll();
    expect((await stage.get(campaign)).counters.answered).toBe(2);
    await stage.clock.advance(MINUTE_MS);
    expect(await stage.state(campaign)).toBe('completed');
    expect(new Set(stage.calls.dialled.map(({ to }) => to)).size).toBe(4);
    expect(stage.calls.dialled).toHaveLength(4);
  });

  it('calls no contact again if orphaned work is adopted while the node drains', async () => {
    const stage = await openStage();
    stage.calls.scripts.set('*', [{ cause: 'answered', afterMs: HOUR_MS }]);
    const campaign = await stage.ready({ maxConcurrent: 2 }, 3);
    await stage.start(campaign);
    await stage.clock.advance(SECOND_MS);
    expect(stage.calls.dialled).toHaveLength(2);
    stage.dialer.drain();
    await stage.dialer.resumeAll();
    await stage.clock.advance(2 * HOUR_MS);
    expect(stage.calls.dialled).toHaveLength(2);
    expect((await stage.get(campaign)).counters).toMatchObject({ answered: 2, pending: 1 });
  });

  it('resumes campaigns with the next attempt if the store fails', async () => {
    const stage = await openStage();
    const campaign = await stage.ready({}, 1);
    stage.calls.limit = 0;
    await stage.start(campaign);
    stage.dialer.stop();
    stage.calls.limit = 1;
    const { unfinished } = stage.store.campaigns;
    Object.assign(stage.store.campaigns, {
      unfinished: () => Promise.reject(new ServiceError('STORE_GONE', 'no connection')),
    });
    await expect(stage.dialer.resumeAll()).rejects.toThrow('no connection');
    Object.assign(stage.store.campaigns, { unfinished });
    await stage.dialer.resumeAll();
    await stage.clock.advance(MINUTE_MS);
    expect(await stage.state(campaign)).toBe('completed');
  });
});
