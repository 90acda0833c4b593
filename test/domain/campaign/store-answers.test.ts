/** Answers of the store that arrive together, or never. */
import { expect, it } from 'vitest';
import { UnknownOutcomeError } from '../../../src/base/errors.ts';
import type { CampaignStore } from '../../../src/domain/campaign/needs.ts';
import type { Campaign } from '../../../src/domain/campaign/types.ts';
import { OWNER } from './records.ts';
import { openStage } from './stage.ts';

/** Holds the answers of `finish` and `change` back until `release`, which gives them in the order of their commits. */
function holdAnswers(store: CampaignStore) {
  const held: (() => void)[] = [];
  let isHolding = true;
  const holding =
    <Given extends readonly unknown[], Answer>(act: (...given: Given) => Promise<Answer>) =>
    async (...given: Given): Promise<Answer> => {
      const answer = await act(...given);
      if (!isHolding) return answer;
      return new Promise((resolve) => held.push(() => resolve(answer)));
    };
  const { finish, change } = store;
  Object.assign(store, { finish: holding(finish), change: holding(change) });
  return {
    held,
    release(): void {
      isHolding = false;
      for (const answer of held.splice(0)) answer();
    },
  };
}

it.each([
  ['pause', 'paused:manual_pause'],
  ['cancel', 'cancelled'],
] as const)('%s in the same transaction as the end of a call', async (command, state) => {
  const stage = await openStage();
  const campaign = await stage.ready({ maxConcurrent: 1 }, 3);
  await stage.start(campaign);
  await stage.clock.advance(0);
  const answers = holdAnswers(stage.store.campaigns);
  await stage.clock.advance(1000);
  const commanded = stage.campaigns[command](OWNER, campaign.id);
  await stage.clock.advance(0);
  expect(answers.held).toHaveLength(2);
  answers.release();
  expect((await commanded).ok).toBe(true);
  await stage.clock.advance(1000);
  expect(await stage.state(campaign)).toBe(state);
  const running = await stage.dialer.running(OWNER.accountId);
  expect(running.map(({ status }) => status)).toEqual([]);
  expect(stage.calls.dialled).toHaveLength(1);
});

/** Lets the answers to the next `count` calls of an operation get lost. `isDone`: whether the operation was done. */
function loseAnswers(
  store: CampaignStore,
  operation: 'begin' | 'finish' | 'change',
  { count = 1, isDone }: { readonly count?: number; readonly isDone: boolean },
): void {
  let left = count;
  const act = store[operation] as (...given: unknown[]) => Promise<unknown>;
  const losing = async (...given: unknown[]): Promise<unknown> => {
    left -= 1;
    if (left < 0) return act(...given);
    if (isDone) await act(...given);
    throw new UnknownOutcomeError('STORE_BUSY', 'the connection broke during a commit');
  };
  Object.assign(store, { [operation]: losing });
}

const MINUTE_MS = 60_000;

it.each([true, false])('completes if the answer to an end is lost (done: %s)', async (isDone) => {
  const stage = await openStage();
  const campaign = await stage.ready({ maxConcurrent: 1 }, 2);
  loseAnswers(stage.store.campaigns, 'finish', { isDone, count: 2 });
  await stage.start(campaign);
  await stage.clock.advance(MINUTE_MS);
  expect(await stage.state(campaign)).toBe('completed');
  expect(stage.calls.dialled).toHaveLength(2);
  expect(stage.reported).toEqual(['started', 'contact.answered', 'contact.answered', 'completed']);
});

it.each([true, false])('completes if the answer to a start is lost (done: %s)', async (isDone) => {
  const stage = await openStage();
  const campaign = await stage.ready({ maxConcurrent: 1 }, 2);
  loseAnswers(stage.store.campaigns, 'begin', { isDone });
  await stage.start(campaign);
  await stage.clock.advance(MINUTE_MS);
  expect(await stage.state(campaign)).toBe('completed');
  expect(stage.calls.dialled).toHaveLength(2);
  expect(await stage.dialer.running(OWNER.accountId)).toEqual([]);
});

it('a campaign does not keep its place if the answer to its completion is lost', async () => {
  const stage = await openStage();
  const campaign = await stage.ready({}, 1);
  await stage.start(campaign);
  loseAnswers(stage.store.campaigns, 'change', { isDone: true });
  await stage.clock.advance(MINUTE_MS);
  expect(await stage.state(campaign)).toBe('completed');
  expect(await stage.dialer.running(OWNER.accountId)).toEqual([]);
});

it('a campaign tries no call if the answer to its pause is lost', async () => {
  const stage = await openStage();
  const campaign = await stage.ready({ maxConcurrent: 1 }, 3);
  stage.calls.limit = 0;
  await stage.start(campaign);
  await stage.clock.advance(0);
  loseAnswers(stage.store.campaigns, 'change', { isDone: true });
  await expect(stage.campaigns.pause(OWNER, campaign.id)).rejects.toThrow('during a commit');
  stage.calls.limit = 1;
  let tries = 0;
  const { begin } = stage.store.campaigns;
  Object.assign(stage.store.campaigns, {
    begin: (start: Parameters<typeof begin>[0]) => {
      tries += 1;
      return begin(start);
    },
  });
  await stage.clock.advance(MINUTE_MS);
  expect(await stage.state(campaign)).toBe('paused:manual_pause');
  expect(tries).toBeLessThan(3);
});

/** Holds the answers of reads back, as if other connections of the database answered before. */
function holdReads(store: CampaignStore): () => void {
  const { get } = store;
  const held: (() => void)[] = [];
  const holding = async (id: Campaign['id']): Promise<Campaign | undefined> => {
    const answer = await get(id);
    await new Promise<void>((resolve) => held.push(resolve));
    return answer;
  };
  Object.assign(store, { get: holding });
  return () => {
    Object.assign(store, { get });
    for (const answer of held.splice(0)) answer();
  };
}

it('a campaign has completed although the read after a change is slower than the end of its last call', async () => {
  const stage = await openStage();
  const campaign = await stage.ready({ maxConcurrent: 1 }, 1);
  await stage.start(campaign);
  await stage.clock.advance(999);
  const release = holdReads(stage.store.campaigns);
  const changed = stage.dialer.changed(campaign);
  await stage.clock.advance(1000);
  release();
  await changed;
  expect(await stage.state(campaign)).toBe('completed');
  expect(await stage.dialer.running(OWNER.accountId)).toEqual([]);
});
