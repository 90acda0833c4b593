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
