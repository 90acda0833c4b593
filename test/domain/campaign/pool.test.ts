/** Uses of pool numbers by several calls of a campaign, and uses that are returned. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Campaign, PoolRules } from '../../../src/domain/campaign/types.ts';
import { OWNER } from './records.ts';
import { HOUR_MS, MINUTE_MS, openStage } from './stage.ts';

const SECOND_MS = 1000;

let stage: Awaited<ReturnType<typeof openStage>>;
beforeEach(async () => {
  stage = await openStage();
});

/** A campaign with two calls at a time and a pool of one number. */
async function withNumber(rules: Partial<PoolRules>, contacts: number): Promise<Campaign> {
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
      maxConcurrent: 2,
    },
    contacts,
  );
  await stage.campaigns.addNumbers(OWNER, campaign.id, [{ number: '12025550100', label: '' }]);
  return campaign;
}

describe('a pool number', () => {
  it('is used for its last call while another call is live', async () => {
    stage.calls.scripts.set('*', [{ cause: 'answered', afterMs: MINUTE_MS }]);
    stage.calls.limit = 1;
    const campaign = await withNumber({ maxCalls: 2 }, 2);
    await stage.start(campaign);
    await stage.clock.advance(500);
    stage.calls.limit = 2;
    await stage.clock.advance(SECOND_MS);
    expect(stage.calls.dialled).toHaveLength(2);
  });

  it('is free again after a refusal', async () => {
    stage.calls.limit = 0;
    const campaign = await withNumber({ maxCalls: 1 }, 1);
    await stage.start(campaign);
    await stage.clock.advance(500);
    stage.calls.limit = 1;
    await stage.clock.advance(MINUTE_MS);
    expect(await stage.state(campaign)).toBe('completed');
  });

  it.each([
    ['total', { maxCalls: 1 }],
    ['daily', { maxCallsPerDay: 1 }],
  ])('is free again, also for its %s limit, after a call that rang no phone', async (_, rules) => {
    stage.calls.scripts.set('*', [
      { cause: 'full', afterMs: 0 },
      { cause: 'answered', afterMs: 1000 },
    ]);
    const campaign = await withNumber(rules, 1);
    await stage.start(campaign);
    await stage.clock.advance(MINUTE_MS);
    expect(await stage.state(campaign)).toBe('completed');
    const numbers = await stage.store.campaigns.numbers(campaign.id);
    expect(numbers).toMatchObject([{ totalCalls: 1, callsOfDay: 1 }]);
  });

  it.each([
    [true, 'paused:caller_pool_exhausted'],
    [false, 'running'],
  ])('is used up once its last call is reached: %s', async (isReached, state) => {
    stage.calls.scripts.set('*', [{ cause: 'answered', afterMs: HOUR_MS }]);
    stage.calls.reportsReached = isReached;
    const campaign = await withNumber({ maxCalls: 1 }, 2);
    await stage.start(campaign);
    await stage.clock.advance(MINUTE_MS);
    expect(stage.calls.dialled).toHaveLength(1);
    // Until then, the call may still return its use.
    expect(await stage.state(campaign)).toBe(state);
    await stage.clock.advance(HOUR_MS);
    expect(await stage.state(campaign)).toBe('paused:caller_pool_exhausted');
  });
});
