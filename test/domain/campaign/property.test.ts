/**
 * For any commands and call outcomes: counters equal the sum of contacts, limits hold, and no contact has two
 * concurrent calls. Afterwards every campaign ends.
 */
import { expect, it } from 'vitest';
import type { Campaign, ContactStatus } from '../../../src/domain/campaign/types.ts';
import { seededRandom } from '../../edge/store/open.ts';
import { contactRows, OWNER } from './records.ts';
import { MINUTE_MS, openStage, type Script } from './stage.ts';

const STEPS = 60;
const SEEDS = Number(process.env['CAMPAIGN_SEEDS'] ?? 4);
const RETRIES = 2;
const TROUBLES = ['unavailable', 'insufficientFunds'] as const;
const CAUSES = [
  'answered',
  'machine',
  'busy',
  'noAnswer',
  'failed',
  'carrier',
  'answerUrl',
] as const;

type Stage = Awaited<ReturnType<typeof openStage>>;

async function campaignsOf(stage: Stage, random: ReturnType<typeof seededRandom>) {
  const hours = [1, 2, 3, 4, 5, 6, 7].map((weekday) => ({
    weekday,
    startMinute: 8 * 60,
    endMinute: 20 * 60,
  }));
  const made: Campaign[] = [];
  for (let index = 0; index < 4; index += 1) {
    const rows = contactRows(12).map((row) => ({
      ...row,
      to: `1${212 + index}555${row.to.slice(-4)}`,
    }));
    const campaign = await stage.ready(
      {
        name: `campaign ${index}`,
        maxConcurrent: 1 + random.integer(4),
        window: random.integer(2) === 0 ? undefined : { hours, holidays: [] },
        retry: {
          attempts: RETRIES,
          delaysMs: [300_000, 1_200_000],
          windowMs: 86_400_000,
          on: ['busy', 'no_answer', 'failed', 'machine'],
        },
        ...(index === 3
          ? {
              callerIdStrategy: 'pool',
              fixedCallerId: undefined,
              pool: { rotation: 'random', maxCalls: 20, maxCallsPerDay: 8, cooldownMs: 30_000 },
            }
          : {}),
      },
      rows,
    );
    if (index === 3) {
      const numbers = ['12025550101', '12025550102'].map((number) => ({ number, label: '' }));
      await stage.campaigns.addNumbers(OWNER, campaign.id, numbers);
    }
    made.push(campaign);
  }
  return made;
}

async function check(stage: Stage, campaigns: readonly Campaign[], limit: number) {
  let dialling = 0;
  for (const campaign of campaigns) {
    const { counters, maxConcurrent } = await stage.get(campaign);
    const contacts = await stage.contacts(campaign);
    const sums: Partial<Record<ContactStatus, number>> = {};
    for (const { status } of contacts) sums[status] = (sums[status] ?? 0) + 1;
    const counted = Object.entries(counters).filter(([, count]) => count !== 0);
    expect(Object.fromEntries(counted)).toEqual(sums);
    expect(counters.dialling).toBeLessThanOrEqual(maxConcurrent);
    for (const contact of contacts) {
      expect(contact.attempts).toBeLessThanOrEqual(RETRIES + 1);
      expect(contact.status === 'dialling').toBe(stage.calls.live.has(contact.to));
    }
    dialling += counters.dialling;
  }
  expect(dialling).toBeLessThanOrEqual(limit);
  expect(stage.calls.highest).toBeLessThanOrEqual(limit);
  expect(stage.calls.twice).toEqual([]);
}

async function play(seed: number): Promise<void> {
  const random = seededRandom(seed);
  const stage = await openStage();
  const limit = 1 + random.integer(6);
  stage.calls.limit = limit;
  const script = (): Script => ({
    cause: CAUSES[random.integer(CAUSES.length)] ?? 'busy',
    afterMs: 100 + random.integer(90_000),
  });
  stage.calls.next = script;
  const campaigns = await campaignsOf(stage, random);
  for (let step = 0; step < STEPS; step += 1) {
    const { id } = campaigns[random.integer(campaigns.length)] as Campaign;
    const command = ['start', 'start', 'pause', 'resume', 'resume', 'cancel'][
      random.integer(random.integer(8) === 0 ? 6 : 5)
    ];
    await stage.campaigns[command as 'start'](OWNER, id);
    const trouble = TROUBLES[random.integer(20)];
    stage.calls.refuses = trouble === undefined ? undefined : () => ({ kind: trouble });
    await stage.clock.advance(
      random.integer(4) === 0 ? 60 * MINUTE_MS : random.integer(3 * MINUTE_MS),
    );
    // Attempts that end now are written before the check.
    for (let turn = 0; turn < 5; turn += 1) await stage.clock.advance(0);
    await check(stage, campaigns, limit);
  }
  await finish(stage, campaigns, limit);
}

const LAST = new Set(['completed', 'cancelled', 'expired']);

/** Liveness: without further trouble, each campaign reaches an end, after calls to all its contacts or its cancellation. */
async function finish(stage: Stage, campaigns: readonly Campaign[], limit: number): Promise<void> {
  stage.calls.refuses = undefined;
  stage.calls.next = () => ({ cause: 'answered', afterMs: 1000 });
  const statuses = () =>
    Promise.all(campaigns.map(async (campaign) => (await stage.get(campaign)).status));
  for (let hour = 0; hour < 240 && (await statuses()).some((s) => !LAST.has(s)); hour += 1) {
    for (const { id } of campaigns) {
      await stage.campaigns.start(OWNER, id);
      await stage.campaigns.resume(OWNER, id);
    }
    await stage.clock.advance(60 * MINUTE_MS);
    for (let turn = 0; turn < 5; turn += 1) await stage.clock.advance(0);
    await check(stage, campaigns, limit);
  }
  for (const campaign of campaigns) {
    const { status } = await stage.get(campaign);
    expect(LAST).toContain(status);
    if (status !== 'completed') continue;
    for (const contact of await stage.contacts(campaign))
      expect(contact.attempts).toBeGreaterThan(0);
  }
  expect(stage.calls.dialled.length).toBeGreaterThan(0);
}

it('counters add up, limits hold and campaigns end in any sequence of events', {
  timeout: 120_000,
}, async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    await play(seed).catch((error: unknown) => {
      throw new Error(`seed ${seed}: ${String(error)}`, { cause: error });
    });
  }
});
