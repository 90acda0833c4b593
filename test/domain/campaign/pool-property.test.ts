/** For any limits, pool size, concurrency and retries, a campaign uses every number exactly up to its limit. */
import { expect, it } from 'vitest';
import type { Campaign, PoolRules } from '../../../src/domain/campaign/types.ts';
import { seededRandom } from '../../edge/store/open.ts';
import { OWNER } from './records.ts';
import { HOUR_MS, openStage, type Script } from './stage.ts';

const SEEDS = Number(process.env['CAMPAIGN_SEEDS'] ?? 20);
const ROTATIONS = ['round_robin', 'least_used', 'random'] as const;
const DAY_MS = 24 * HOUR_MS;

type Random = ReturnType<typeof seededRandom>;
type Stage = Awaited<ReturnType<typeof openStage>>;

interface Pool {
  readonly numbers: number;
  readonly rules: PoolRules;
}

/** Returns a limit in half of the cases. */
const limitOf = (random: Random, most: number): number | undefined =>
  random.integer(2) === 0 ? undefined : 1 + random.integer(most);

function poolOf(random: Random): Pool {
  return {
    numbers: 1 + random.integer(4),
    rules: {
      rotation: ROTATIONS[random.integer(ROTATIONS.length)] ?? 'random',
      maxCalls: limitOf(random, 14),
      maxCallsPerDay: limitOf(random, 9),
      cooldownMs: random.integer(3) === 0 ? 1000 + random.integer(20_000) : 0,
    },
  };
}

async function campaignOf(stage: Stage, random: Random, { numbers, rules }: Pool) {
  const campaign = await stage.ready(
    {
      callerIdStrategy: 'pool',
      fixedCallerId: undefined,
      pool: rules,
      maxConcurrent: 1 + random.integer(20),
      retry: {
        attempts: random.integer(3),
        delaysMs: [60_000, 600_000],
        windowMs: 60 * DAY_MS,
        on: ['busy', 'no_answer', 'failed'],
      },
    },
    1 + random.integer(40),
  );
  await stage.campaigns.addNumbers(
    OWNER,
    campaign.id,
    Array.from({ length: numbers }, (_, index) => ({ number: `1202555010${index}`, label: '' })),
  );
  return campaign;
}

/** Ends of calls. Some are refused after their start, which returns the use of their number. */
const scripts = (random: Random) => (): Script => {
  const cause = (['answered', 'answered', 'busy', 'noAnswer', 'full'] as const)[random.integer(5)];
  return { cause: cause ?? 'busy', afterMs: cause === 'full' ? 0 : 100 + random.integer(20_000) };
};

/** Counts uses by number and day. */
async function usesOf(stage: Stage, campaign: Campaign): Promise<Map<string, number>> {
  const { items } = await stage.store.campaigns.attempts(campaign.id, { limit: 5000, offset: 0 });
  const uses = new Map<string, number>();
  for (const { from, placedUs, hangupCause } of items) {
    if (hangupCause === 'SWITCH_CONGESTION') continue;
    const day = new Date(placedUs / 1000).toISOString().slice(0, 10);
    uses.set(`${from} ${day}`, (uses.get(`${from} ${day}`) ?? 0) + 1);
  }
  return uses;
}

async function play(seed: number): Promise<void> {
  const random = seededRandom(seed);
  const stage = await openStage();
  stage.settings.maxCallsPerDay = 1000;
  stage.calls.next = scripts(random);
  stage.calls.reportsReached = random.integer(2) === 0;
  stage.calls.placingMs = () => random.integer(50);
  stage.calls.limit = 1 + random.integer(30);
  const pool = poolOf(random);
  const campaign = await campaignOf(stage, random, pool);
  await stage.start(campaign);
  await stage.clock.advance(100 * DAY_MS);

  const { counters, consecutiveFailures } = await stage.get(campaign);
  const { maxCalls, maxCallsPerDay } = pool.rules;
  const uses = await usesOf(stage, campaign);
  const totals = await stage.store.campaigns.numbers(campaign.id);
  const used = totals.reduce((sum, { totalCalls }) => sum + totalCalls, 0);
  const capacity = pool.numbers * (maxCalls ?? Number.POSITIVE_INFINITY);
  const label = JSON.stringify({ seed, pool, counters });

  expect(
    [...uses.values()].reduce((sum, count) => sum + count, 0),
    label,
  ).toBe(used);
  expect(Math.max(0, ...uses.values()), label).toBeLessThanOrEqual(
    maxCallsPerDay ?? Number.POSITIVE_INFINITY,
  );
  for (const { totalCalls } of totals) {
    expect(totalCalls, label).toBeLessThanOrEqual(maxCalls ?? Number.POSITIVE_INFINITY);
  }
  expect(consecutiveFailures, label).toBe(0);
  const waiting = counters.pending + counters.retry_pending;
  const state = await stage.state(campaign);
  if (waiting === 0) expect(state, label).toBe('completed');
  else expect(state, label).toBe('paused:caller_pool_exhausted');
  // Either the calls that the contacts needed, or as many as the pool allows.
  if (waiting > 0) expect(used, label).toBe(capacity);
  checkPauses(stage, uses, pool, label);
}

/** Checks that a pause for the daily limit follows a day on which every number was used up, and lasts until midnight. */
function checkPauses(stage: Stage, uses: Map<string, number>, pool: Pool, label: string): void {
  const days = new Set([...uses.keys()].map((key) => key.split(' ')[1]));
  const daily = stage.reported.filter((event) => event.endsWith('caller_pool_daily_limit_reached'));
  const others = stage.reported.filter((event) => event === 'paused:caller_pool_exhausted');
  expect(daily.length, label).toBeLessThanOrEqual(days.size);
  expect(others.length, label).toBeLessThanOrEqual(1);
  expect(stage.reported.filter((event) => event === 'resumed').length, label).toBe(daily.length);
  if (pool.rules.maxCallsPerDay === undefined) expect(daily, label).toEqual([]);
}

it('uses every number exactly up to its limit', { timeout: 120_000 }, async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) await play(seed);
});
