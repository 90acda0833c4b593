import type { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { asAccountId, asCallUuid } from '../../../src/base/ids.ts';
import type { LiveCall } from '../../../src/domain/dispatch/types.ts';
import { LiveFeed } from '../../../src/edge/rest/console/live-feed.ts';
import { SimClock, settle } from '../../sim/clock.ts';

const ADA = asAccountId('MA_ADA');
const callOf = (name: string, accountId = ADA): LiveCall =>
  ({ callUuid: asCallUuid(name), accountId, subAccount: undefined }) as LiveCall;

function setup() {
  const clock = new SimClock();
  const world = { calls: [callOf('a')], isAllowed: true };
  const feed = new LiveFeed({
    clock,
    list: async () => world.calls,
    scores: async () => new Map(),
    show: ({ callUuid }) => ({ callUuid }),
  });
  const listen = (account: typeof ADA | undefined, userId = 'u') =>
    feed.listen({
      userId,
      account: account && { accountId: account, subAccount: undefined },
      isAllowed: async () => world.isAllowed,
    });
  return { clock, world, feed, listen };
}

const reported = (stream: Readable | undefined): string => String(stream?.read() ?? '');

it('sends the whole list immediately and after each change, and keeps the connection open between changes', async () => {
  const { clock, world, listen } = setup();
  const stream = listen(undefined);
  await settle();
  expect(reported(stream)).toBe('event: calls\ndata: {"total":1,"calls":[{"callUuid":"a"}]}\n\n');
  await clock.advance(5000);
  expect(reported(stream)).toBe('');
  world.calls = [callOf('a'), callOf('b')];
  await clock.advance(1000);
  expect(reported(stream)).toContain('"total":2');
  await clock.advance(15_000);
  expect(reported(stream)).toBe(': still here\n\n');
});

it('sends a customer only the calls of the account', async () => {
  const { world, listen } = setup();
  world.calls = [callOf('a'), callOf('b', asAccountId('MA_BOB'))];
  const stream = listen(ADA);
  await settle();
  expect(reported(stream)).toContain('{"total":1,"calls":[{"callUuid":"a"}]}');
});

it('ends the stream when the user loses access', async () => {
  const { clock, world, listen } = setup();
  const stream = listen(undefined);
  const ended = new Promise((resolve) => stream?.on('end', resolve).resume());
  world.isAllowed = false;
  await clock.advance(6000);
  await ended;
});

it('limits the streams of a user and releases the places of closed ones', async () => {
  const { feed, listen } = setup();
  const streams = Array.from({ length: 10 }, () => listen(undefined));
  expect(listen(undefined)).toBeUndefined();
  expect(listen(undefined, 'other')).toBeDefined();
  streams[0]?.destroy();
  await new Promise((resolve) => streams[0]?.once('close', resolve));
  expect(listen(undefined)).toBeDefined();
  feed.stop();
});

it('pauses a stream whose page does not read', async () => {
  const { clock, world, listen } = setup();
  const stream = listen(undefined);
  for (let round = 0; round < 60; round += 1) {
    world.calls = Array.from({ length: 900 }, (_, at) => callOf(`${round} ${at}`));
    await clock.advance(1000);
  }
  expect(stream?.readableLength).toBeLessThan(512 * 1024);
});

it('lists running calls by page, latest first, and the requests with queued calls', async () => {
  const { clock, world, feed } = setup();
  const bob = asAccountId('MA_BOB');
  world.calls = Array.from({ length: 120 }, (_, at) => ({
    ...callOf(`u${at}`, at % 2 === 0 ? ADA : bob),
    startUs: at,
    from: `1415555${String(at).padStart(4, '0')}`,
    to: '1000',
    callerName: '',
    requestUuid: (at % 4 === 0 ? 'request' : undefined) as never,
    status: at < 40 ? ('queued' as const) : ('in-progress' as const),
    direction: 'outbound' as const,
    bots: at === 2 ? ['bot.example'] : [],
  }));
  const all = {
    account: undefined,
    search: '',
    direction: undefined,
    hasBot: undefined,
    queued: [],
  };
  const of = (over: object, slice = { limit: 50, offset: 0 }) =>
    feed.page({ ...all, ...over }, slice);
  const last = await of({}, { limit: 50, offset: 100 });
  expect([last.total, last.calls.length, last.calls[0]]).toEqual([120, 20, { callUuid: 'u19' }]);
  const own = await of({ account: { accountId: ADA, subAccount: undefined } });
  expect([own.total, own.calls[0]]).toEqual([60, { callUuid: 'u118' }]);
  expect(own.requests).toEqual([{ requestUuid: 'request', queued: 10 }]);
  expect((await of({ search: '5550007' })).calls).toEqual([{ callUuid: 'u7' }]);
  expect((await of({ hasBot: true })).calls).toEqual([{ callUuid: 'u2' }]);
  expect((await of({ direction: 'inbound' })).total).toBe(0);
  const queued = [{ ...callOf('waiting'), status: 'queued', startUs: 999 } as LiveCall];
  const withQueue = await of({ queued });
  expect([withQueue.total, withQueue.running]).toEqual([121, 80]);
  expect(withQueue.calls[0]).toEqual({ callUuid: 'waiting' });
  // Pages within a second show the same listing.
  world.calls = [];
  expect((await of({})).total).toBe(120);
  await clock.advance(1000);
  expect((await of({})).total).toBe(0);
});
