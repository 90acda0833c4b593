import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, expect, it } from 'vitest';
import { asCallUuid } from '../../src/base/ids.ts';
import type { Call } from '../../src/domain/call/call.ts';
import type { Peers } from '../../src/domain/cluster/cluster.ts';
import { StreamWatches } from '../../src/edge/stream/watches.ts';
import { CallListening } from '../../src/service/listen-in/call-listening.ts';
import { SharedCallListening } from '../../src/service/listen-in/shared-call-listening.ts';
import { SimClock } from '../sim/clock.ts';

const CALL = asCallUuid('11111111-1111-4111-8111-111111111111');
const BEGIN = 'overhear.begin';
const READ = 'overhear.read';

let clock: SimClock;
let watches: StreamWatches;
let call: AbortController;
let openStreams: number;
let listening: CallListening;

beforeEach(() => {
  clock = new SimClock();
  watches = new StreamWatches();
  call = new AbortController();
  openStreams = 0;
  const openStream = () => {
    openStreams += 1;
    let isOpen = true;
    return {
      close: () => {
        if (isOpen) openStreams -= 1;
        isOpen = false;
      },
    };
  };
  const running = {
    isAnswered: true,
    isEnded: false,
    signal: call.signal,
    log: { add: () => undefined },
    media: { openStream },
  } as unknown as Call;
  listening = new CallListening({ callBilling: { get: () => running }, watches, clock });
});

const say = (): void => watches.notify(CALL, 'fromBot', () => '{"event":"checkpoint"}');

/** Opens a watcher that its owner does not read, and collects its errors. */
async function opened(isAllowed = async () => true): Promise<{ errors: unknown[] }> {
  const out = (await listening.watchStreams(CALL, isAllowed)) as Readable;
  const errors: unknown[] = [];
  out.on('error', (error) => errors.push(error));
  say();
  return { errors };
}

it.each([
  ['the user may no longer watch', { ends: async () => clock.advance(5000), isAllowed: false }],
  ['the call ends', { ends: async () => call.abort(), isAllowed: true }],
  ['the service stops', { ends: async () => listening.stop(), isAllowed: true }],
])(
  'a message after the end does not fail for a watcher who does not read, when %s',
  async (_, end) => {
    const { errors } = await opened(async () => end.isAllowed);
    await end.ends();
    say();
    await nextTurn();
    expect(errors).toEqual([]);
    expect(openStreams).toBe(0);
    expect(clock.nextMs()).toBeUndefined();
  },
);

it('frees the place of a watcher who no longer reads at its end', async () => {
  for (let round = 0; round < 30; round += 1) {
    await opened(async () => false);
    await clock.advance(5000);
  }
  expect(openStreams).toBe(0);
});

it('frees the place of a watcher on another node that has stopped to read', async () => {
  const answers = new Map<string, (...given: never[]) => Promise<unknown>>();
  const bus = { answer: (what: string, by: never) => answers.set(what, by) };
  const random = { bytes: (length: number) => Buffer.alloc(length, clock.monotonicMs() / 10_000) };
  new SharedCallListening({
    own: listening,
    peers: { bus, nodeId: 'b' } as unknown as Peers,
    clock,
    random: random as never,
  });
  const asked = (what: string, ...given: unknown[]) => answers.get(what)?.(...(given as never[]));
  for (let round = 0; round < 30; round += 1) {
    const begun = await asked(BEGIN, 'watchStreams', CALL);
    expect(begun).toMatchObject({ node: 'b' });
    await clock.advance(10_000);
    say();
    await nextTurn();
    expect(await asked(READ, (begun as { id: string }).id)).toEqual({ isOver: true });
  }
  expect(openStreams).toBe(0);
  expect(clock.nextMs()).toBeUndefined();
});
