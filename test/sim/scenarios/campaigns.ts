/** Campaigns: their calls are ordinary calls within the same limits, and a killed process loses none of them. */
import { assert } from '../../../src/base/errors.ts';
import type { CampaignId } from '../../../src/base/ids.ts';
import type { CampaignPlan, ContactResult } from '../../../src/domain/campaign/types.ts';
import { anAgent, aPlan, contactRows } from '../../domain/campaign/records.ts';
import { SITE, xml } from '../customer.ts';
import { ANSWERS, type Called } from '../leg.ts';
import type { Scenario } from '../scenario.ts';
import { OWN_NUMBER } from '../service.ts';
import type { World } from '../world.ts';
import { place } from './parties.ts';

const CONTACTS = 8;
const RING_TIMEOUT_MS = 4000;

const ownerOf = ({ service }: World) => ({ accountId: service.accountId, subAccount: undefined });

/** Runs a campaign for contacts whose phones behave as `called` specifies. */
async function run(
  world: World,
  called: (index: number) => Called,
  over: Partial<CampaignPlan> = {},
): Promise<CampaignId> {
  const { campaigns } = world.service;
  const owner = ownerOf(world);
  const answer = { url: `${SITE}/answer`, method: 'POST' } as const;
  const agent = await campaigns.createAgent(
    owner,
    anAgent({ answer, ringTimeoutMs: RING_TIMEOUT_MS }),
  );
  assert(agent.ok, 'the agent is created');
  const plan = aPlan({ agentId: agent.value.id, fixedCallerId: OWN_NUMBER, ...over });
  const created = await campaigns.create(owner, plan);
  assert(created.ok, 'the campaign is created');
  const { id } = created.value.campaign;
  const upload = await campaigns.beginUpload(owner, id);
  assert(upload.ok, 'contacts are accepted');
  const rows = contactRows(CONTACTS);
  for (const [index, { to }] of rows.entries()) world.farPhone(to, { called: called(index) });
  await campaigns.addRows(upload.value, rows);
  await campaigns.finishUpload(upload.value);
  const started = await campaigns.start(owner, id);
  assert(started.ok, 'the campaign is started');
  return id;
}

async function completed(world: World, id: CampaignId, withinMs = 60_000): Promise<void> {
  const endMs = world.clock.monotonicMs() + withinMs;
  while (world.clock.monotonicMs() < endMs) {
    await world.advance(500);
    const found = await world.store.campaigns.get(id);
    if (found?.status === 'completed') return;
    world.equal(found?.status, 'running', 'status of the campaign');
  }
  world.fail('the campaign is not completed');
}

const resultsOf = (world: World, id: CampaignId): Promise<readonly ContactResult[]> =>
  world.disk.rescued.campaigns.results(id, 0, 100);

const OUTCOMES: readonly Called[] = [
  ANSWERS,
  { kind: 'refuses', afterMs: 200, status: 486 },
  { kind: 'refuses', afterMs: 200, status: 404 },
  { kind: 'rings' },
];
const EXPECTED = ['answered', 'busy', 'failed', 'no_answer'];

export const campaignScenarios: readonly Scenario[] = [
  {
    title: 'a campaign calls all contacts, and each attempt has the record of its call',
    async play(world) {
      world.customer.on('/answer', xml('<Wait length="1"/>'));
      const outcomeOf = (index: number): Called => OUTCOMES[index % OUTCOMES.length] ?? ANSWERS;
      const id = await run(world, outcomeOf, { maxConcurrent: 3 });
      await completed(world, id);
      const cdrs = await world.cdrs();
      world.equal(cdrs.length, CONTACTS, 'records');
      for (const { contact, attempt } of await resultsOf(world, id)) {
        const expected = EXPECTED[(contact.rowNumber - 1) % EXPECTED.length];
        world.equal(contact.status, expected, `row ${contact.rowNumber}`);
        const cdr = cdrs.find(({ callUuid }) => callUuid === attempt?.callUuid);
        world.equal(cdr?.campaignId, id, 'campaign of the record');
        world.equal(cdr?.hangupCause, attempt?.hangupCause, 'cause');
        world.equal(cdr?.to, contact.to, 'number');
      }
    },
  },
  {
    title: 'a campaign waits for slots and for calls over REST without being paused',
    options: { concurrentCalls: 2, callsPerSecond: 2 },
    async play(world) {
      world.customer.on('/answer', xml('<Wait length="2"/>'));
      world.customer.on('/ring', 200);
      const id = await run(world, () => ANSWERS, { maxConcurrent: 2 });
      const numbers = ['14155550111', '14155550112', '14155550113'];
      for (const number of numbers) world.farPhone(number, { called: ANSWERS });
      await world.advance(world.random.between(0, 400));
      await place(world, numbers);
      await completed(world, id);
      const results = await resultsOf(world, id);
      world.expect(
        results.every(({ contact }) => contact.status === 'answered'),
        'all contacts are reached',
      );
    },
  },
  {
    title:
      'kill -9 in a campaign: each contact has one state, and only unanswered calls are repeated',
    async play(world) {
      world.customer.on('/answer', xml('<Wait length="2"/>'));
      const id = await run(world, () => world.random.pick(OUTCOMES), { maxConcurrent: 3 });
      await world.advance(world.random.between(0, 9000));
      // A call that the kill interrupts before its answer is placed again.
      const whole = world.signalling.legs.filter(
        ({ answered, overAtMs }) => answered || overAtMs !== undefined,
      );
      await world.crash();
      const { campaigns } = world.disk.rescued;
      const results = await resultsOf(world, id);
      const sums = new Map<string, number>();
      for (const { contact, attempt } of results) {
        sums.set(contact.status, (sums.get(contact.status) ?? 0) + 1);
        const calls = whole.filter(({ phone }) => phone?.name === contact.to).length;
        world.expect(calls <= 1, `${contact.to} was called ${calls} times`);
        const isOver = contact.status !== 'pending';
        world.expect(isOver || calls === 0, `${contact.to} was called, and waits`);
        world.expect(
          !isOver || attempt?.endedUs !== undefined,
          `${contact.to} is still being dialled`,
        );
      }
      const { counters } = (await campaigns.get(id)) ?? world.fail('no campaign');
      for (const [status, count] of Object.entries(counters)) {
        world.equal(count, sums.get(status) ?? 0, status);
      }
    },
  },
];
