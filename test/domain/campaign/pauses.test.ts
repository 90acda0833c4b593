/** Every row of the spec's table of pause reasons: cause, reported event, and the condition that clears it. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Campaign, PoolRules } from '../../../src/domain/campaign/types.ts';
import { OWNER } from './records.ts';
import { HOUR_MS, MINUTE_MS, openStage } from './stage.ts';

type Stage = Awaited<ReturnType<typeof openStage>>;
const LONG_MS = 72 * HOUR_MS;

describe('pause reason', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage();
  });
  const resume = ({ id }: Campaign) => stage.campaigns.resume(OWNER, id);
  const pool = async (numbers: number, rules: Partial<PoolRules>, contacts = 6) => {
    const campaign = await stage.ready(
      {
        callerIdStrategy: 'pool',
        fixedCallerId: undefined,
        pool: {
          rotation: 'round_robin',
          maxCalls: undefined,
          maxCallsPerDay: undefined,
          cooldownMs: 0,
          ...rules,
        },
        maxConcurrent: 1,
      },
      contacts,
    );
    await addNumbers(campaign, numbers);
    return campaign;
  };
  const addNumbers = ({ id }: Campaign, count: number, from = 0) =>
    stage.campaigns.addNumbers(
      OWNER,
      id,
      Array.from({ length: count }, (_, index) => ({
        number: `1202555010${from + index}`,
        label: '',
      })),
    );
  const refusedStill = async (campaign: Campaign, reason: string) => {
    expect(await resume(campaign)).toMatchObject({ error: { kind: 'stillPaused', reason } });
    expect(await stage.state(campaign)).toBe(`paused:${reason}`);
  };

  it('manual_pause clears only by a manual resume', async () => {
    const campaign = await stage.ready({ maxConcurrent: 1 }, 3);
    await stage.start(campaign);
    await stage.clock.advance(500);
    await stage.campaigns.pause(OWNER, campaign.id);
    await stage.clock.advance(LONG_MS);
    expect(await stage.state(campaign)).toBe('paused:manual_pause');
    expect(stage.calls.dialled).toHaveLength(1);
    expect((await resume(campaign)).ok).toBe(true);
    await stage.clock.advance(MINUTE_MS);
    expect(await stage.state(campaign)).toBe('completed');
    expect(stage.reported.filter((event) => !event.startsWith('contact'))).toEqual([
      'started',
      'paused:manual_pause',
      'resumed',
      'completed',
    ]);
  });

  it('window_closed clears automatically at the next open window', async () => {
    const window = {
      hours: [{ weekday: 2, startMinute: 600, endMinute: 660 }],
      holidays: [],
    };
    const campaign = await stage.ready({ window });
    await stage.start(campaign);
    await stage.clock.advance(0);
    await refusedStill(campaign, 'window_closed');
    // Monday noon to Tuesday 10:00.
    await stage.clock.advance(22 * HOUR_MS - 1);
    expect(await stage.state(campaign)).toBe('paused:window_closed');
    await stage.clock.advance(1);
    expect(await stage.state(campaign)).toBe('running');
    expect(stage.reported.slice(0, 3)).toEqual(['started', 'paused:window_closed', 'resumed']);
  });

  it('window_closed becomes manual_pause by a command', async () => {
    const window = { hours: [{ weekday: 2, startMinute: 600, endMinute: 660 }], holidays: [] };
    const campaign = await stage.ready({ window });
    await stage.start(campaign);
    await stage.clock.advance(0);
    expect((await stage.campaigns.pause(OWNER, campaign.id)).ok).toBe(true);
    await stage.clock.advance(22 * HOUR_MS);
    expect(await stage.state(campaign)).toBe('paused:manual_pause');
  });

  it.each(['manual_pause', 'window_closed'])(
    '%s ends when the campaign expires',
    async (reason) => {
      const window = { hours: [{ weekday: 2, startMinute: 600, endMinute: 660 }], holidays: [] };
      const campaign = await stage.ready({
        expiresUs: (stage.clock.wallMs() + HOUR_MS) * 1000,
        ...(reason === 'window_closed' && { window }),
      });
      stage.calls.limit = 0;
      await stage.start(campaign);
      await stage.clock.advance(0);
      if (reason === 'manual_pause') await stage.campaigns.pause(OWNER, campaign.id);
      await stage.clock.advance(HOUR_MS - 1);
      expect(await stage.state(campaign)).toBe(`paused:${reason}`);
      await stage.clock.advance(1);
      expect(await stage.state(campaign)).toBe('completed');
      const { counters } = await stage.get(campaign);
      expect(counters).toMatchObject({ expired: 3, pending: 0 });
    },
  );

  it('caller_pool_exhausted clears by a resume after numbers were added', async () => {
    const campaign = await pool(1, { maxCalls: 2 }, 3);
    await stage.start(campaign);
    await stage.clock.advance(LONG_MS);
    expect(stage.calls.dialled).toHaveLength(2);
    await refusedStill(campaign, 'caller_pool_exhausted');
    await addNumbers(campaign, 1, 1);
    await stage.clock.advance(MINUTE_MS);
    expect(await stage.state(campaign)).toBe('paused:caller_pool_exhausted');
    expect((await resume(campaign)).ok).toBe(true);
    await stage.clock.advance(MINUTE_MS);
    expect(await stage.state(campaign)).toBe('completed');
  });

  it('caller_pool_exhausted applies to an empty pool', async () => {
    const campaign = await pool(0, {});
    await stage.start(campaign);
    await stage.clock.advance(0);
    expect(await stage.state(campaign)).toBe('paused:caller_pool_exhausted');
  });

  it('caller_pool_daily_limit_reached clears automatically at midnight in the campaign timezone', async () => {
    const campaign = await pool(2, { maxCallsPerDay: 1 }, 3);
    await stage.start(campaign);
    await stage.clock.advance(MINUTE_MS);
    expect(stage.calls.dialled).toHaveLength(2);
    await refusedStill(campaign, 'caller_pool_daily_limit_reached');
    await stage.clock.advance(12 * HOUR_MS - MINUTE_MS - 1);
    expect(await stage.state(campaign)).toBe('paused:caller_pool_daily_limit_reached');
    await stage.clock.advance(2 * MINUTE_MS);
    expect(await stage.state(campaign)).toBe('completed');
    expect(stage.calls.dialled.at(-1)?.atMs).toBe(Date.UTC(2026, 0, 6));
  });

  it('account_inactive clears by a resume once the account is active again', async () => {
    const campaign = await stage.ready({ maxConcurrent: 1 }, 2);
    await stage.start(campaign);
    await stage.clock.advance(0);
    stage.calls.hindrance = 'accountInactive';
    await stage.revoke();
    await refusedStill(campaign, 'account_inactive');
    stage.calls.hindrance = undefined;
    await stage.clock.advance(HOUR_MS);
    expect(await stage.state(campaign)).toBe('paused:account_inactive');
    expect((await resume(campaign)).ok).toBe(true);
  });

  it('stalled clears by a resume', async () => {
    stage.calls.refuses = () => ({ kind: 'unavailable' });
    const campaign = await stage.ready();
    await stage.start(campaign);
    await stage.clock.advance(29 * MINUTE_MS);
    expect(await stage.state(campaign)).toBe('running');
    await stage.clock.advance(2 * MINUTE_MS);
    expect(await stage.state(campaign)).toBe('paused:stalled');
    expect(stage.reported).toEqual(['started', 'stalled:unavailable', 'paused:stalled']);
    stage.calls.refuses = undefined;
    await stage.clock.advance(HOUR_MS);
    expect(await stage.state(campaign)).toBe('paused:stalled');
    expect((await resume(campaign)).ok).toBe(true);
    await stage.clock.advance(MINUTE_MS);
    expect(await stage.state(campaign)).toBe('completed');
  });

  it('a lack of RTP ports causes no pause: the contacts wait and are called later', async () => {
    stage.calls.scripts.set('*', [{ cause: 'full', afterMs: 0 }]);
    const campaign = await stage.ready({ maxConcurrent: 2 }, 3);
    await stage.start(campaign);
    await stage.clock.advance(45 * MINUTE_MS);
    expect(await stage.state(campaign)).toBe('running');
    const { counters, consecutiveFailures } = await stage.get(campaign);
    expect(counters).toMatchObject({ failed: 0, pending: 3 });
    expect(consecutiveFailures).toBe(0);
    // Retried about once per second, not in a busy loop.
    expect(stage.calls.dialled.length).toBeLessThan(2 * 46 * 60);
    stage.calls.scripts.set('*', [{ cause: 'answered', afterMs: 1000 }]);
    await stage.clock.advance(MINUTE_MS);
    expect(await stage.state(campaign)).toBe('completed');
    expect(await stage.contacts(campaign)).toMatchObject([
      { status: 'answered', attempts: 1 },
      { status: 'answered', attempts: 1 },
      { status: 'answered', attempts: 1 },
    ]);
    expect(stage.reported.filter((event) => event !== 'contact.answered')).toEqual([
      'started',
      'completed',
    ]);
  });

  it('full limits do not cause stalled', async () => {
    stage.calls.refuses = () => ({ kind: 'full', of: 'carrier', retryAfterMs: 100 });
    const campaign = await stage.ready();
    await stage.start(campaign);
    await stage.clock.advance(45 * MINUTE_MS);
    expect(await stage.state(campaign)).toBe('running');
    expect(stage.reported).toEqual(['started']);
  });

  it.each(['carrier', 'answerUrl'] as const)(
    'consecutive_failures follows %s failures, clears by a resume, and the next failure pauses again',
    async (cause) => {
      stage.calls.scripts.set('*', [{ cause, afterMs: 1000 }]);
      const campaign = await stage.ready({ maxConcurrent: 1 }, 9);
      await stage.start(campaign);
      await stage.clock.advance(MINUTE_MS);
      expect(await stage.state(campaign)).toBe('paused:consecutive_failures');
      expect(stage.calls.dialled).toHaveLength(3);
      await resume(campaign);
      await stage.clock.advance(MINUTE_MS);
      expect(await stage.state(campaign)).toBe('paused:consecutive_failures');
      expect(stage.calls.dialled).toHaveLength(4);
      stage.calls.scripts.set('*', [{ cause: 'answered', afterMs: 1000 }]);
      await resume(campaign);
      await stage.clock.advance(MINUTE_MS);
      expect(await stage.state(campaign)).toBe('completed');
    },
  );

  it('unanswered calls do not cause consecutive_failures', async () => {
    stage.calls.scripts.set('*', [
      { cause: 'carrier', afterMs: 1000 },
      { cause: 'carrier', afterMs: 1000 },
      { cause: 'busy', afterMs: 1000 },
      { cause: 'noAnswer', afterMs: 1000 },
      { cause: 'failed', afterMs: 1000 },
      { cause: 'carrier', afterMs: 1000 },
      { cause: 'busy', afterMs: 1000 },
    ]);
    const campaign = await stage.ready({ maxConcurrent: 1 }, 9);
    await stage.start(campaign);
    await stage.clock.advance(MINUTE_MS);
    expect(await stage.state(campaign)).toBe('completed');
  });

  it('balance_insufficient clears by a resume once the balance suffices', async () => {
    const campaign = await stage.ready({ maxConcurrent: 1 }, 3);
    await stage.start(campaign);
    await stage.clock.advance(500);
    stage.calls.refuses = () => ({ kind: 'insufficientFunds' });
    stage.calls.hindrance = 'insufficientFunds';
    await stage.clock.advance(HOUR_MS);
    await refusedStill(campaign, 'balance_insufficient');
    expect(stage.calls.dialled).toHaveLength(1);
    stage.calls.refuses = undefined;
    stage.calls.hindrance = undefined;
    expect((await resume(campaign)).ok).toBe(true);
    await stage.clock.advance(MINUTE_MS);
    expect(await stage.state(campaign)).toBe('completed');
    expect((await stage.get(campaign)).counters.answered).toBe(3);
  });

  it('balance_insufficient stays until the balance covers a call to the next contact', async () => {
    const campaign = await stage.ready({ maxConcurrent: 1 }, 2);
    const [next] = await stage.contacts(campaign);
    stage.calls.refuses = () => ({ kind: 'insufficientFunds' });
    stage.calls.unaffordable.add(next?.to ?? '');
    await stage.start(campaign);
    await stage.clock.advance(MINUTE_MS);
    await refusedStill(campaign, 'balance_insufficient');
    stage.calls.refuses = undefined;
    stage.calls.unaffordable.clear();
    expect((await resume(campaign)).ok).toBe(true);
    await stage.clock.advance(MINUTE_MS);
    expect(await stage.state(campaign)).toBe('completed');
  });

  it('a refusal during a pause does not pause the campaign again', async () => {
    const campaign = await stage.ready({ maxConcurrent: 1 }, 3);
    stage.calls.refuses = () => ({ kind: 'insufficientFunds' });
    await stage.start(campaign);
    await stage.campaigns.pause(OWNER, campaign.id);
    await stage.clock.advance(MINUTE_MS);
    stage.calls.refuses = undefined;
    await resume(campaign);
    await stage.clock.advance(MINUTE_MS);
    expect(await stage.state(campaign)).toBe('completed');
  });

  it('numbers in cooldown are awaited without a pause', async () => {
    const campaign = await pool(1, { cooldownMs: 600_000 }, 2);
    await stage.start(campaign);
    await stage.clock.advance(10 * MINUTE_MS - 1);
    expect(stage.calls.dialled).toHaveLength(1);
    expect(await stage.state(campaign)).toBe('running');
    await stage.clock.advance(2);
    expect(stage.calls.dialled).toHaveLength(2);
  });

  it.each([
    ['round_robin', ['0', '1', '2', '0', '1', '2']],
    ['least_used', ['0', '1', '2', '0', '1', '2']],
  ] as const)('pool rotation %s alternates numbers', async (rotation, expected) => {
    const campaign = await pool(3, { rotation });
    await stage.start(campaign);
    await stage.clock.advance(MINUTE_MS);
    expect(stage.calls.dialled.map(({ from }) => from.slice(-1))).toEqual(expected);
  });
});
