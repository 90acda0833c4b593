import { getEventListeners } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import { type AccountId, asAccountId } from '../../../src/base/ids.ts';
import { FairShare, type Sharer, type Taken } from '../../../src/domain/capacity/fair-share.ts';
import type { CapacitySlot } from '../../../src/domain/capacity/types.ts';
import { SimClock, settle } from '../../sim/clock.ts';

const WAIT_MS = 2000;

const account = (accountId: AccountId, cps = 50, concurrentCalls = 200): Sharer => ({
  accountId,
  limits: { cps, concurrentCalls },
});
const LOOP = account(asAccountId('loop'));
const NEIGHBOUR = account(asAccountId('otherAccount'));
const THIRD = account(asAccountId('third'));

let clock: SimClock;
let shares: FairShare;
let got: Array<Taken & { readonly by: string; readonly atMs: number }>;
let refused: string[];
beforeEach(() => {
  clock = new SimClock();
  shares = new FairShare(clock);
  got = [];
  refused = [];
});

const place = (limits: { cps?: number; concurrentCalls?: number }, key = 'carrier') => ({
  key,
  limits: { cps: 1000, concurrentCalls: 1000, ...limits },
});

/** Requests one call. The outcome is added to `got` and `refused`. */
function ask(
  sharer: Sharer,
  places: ReturnType<typeof place> | ReturnType<typeof place>[],
  signal = new AbortController().signal,
): Promise<CapacitySlot | undefined> {
  return shares.wait([places].flat(), sharer, { waitMs: WAIT_MS, signal }).then((taken) => {
    if (taken.ok) got.push({ ...taken.value, by: sharer.accountId, atMs: clock.monotonicMs() });
    else refused.push(sharer.accountId);
    return taken.ok ? taken.value.slot : undefined;
  });
}

const gotBy = ({ accountId }: Sharer) => got.filter(({ by }) => by === accountId);

describe('a shared limit: calls per second', () => {
  it('delays other accounts by at most one second, and fails no call, while one account places calls in a loop', async () => {
    const carrier = place({ cps: 50 });
    const loop = setLoop(() => ask(LOOP, carrier), 5);
    await clock.advance(3333);
    const requestedMs = clock.monotonicMs();
    for (let call = 0; call < 6; call += 1) void ask(NEIGHBOUR, carrier);
    await clock.advance(WAIT_MS);
    expect(gotBy(NEIGHBOUR)).toHaveLength(6);
    expect(refused.filter((by) => by === 'otherAccount')).toEqual([]);
    expect((gotBy(NEIGHBOUR)[0]?.atMs ?? Infinity) - requestedMs).toBeLessThanOrEqual(1000);
    loop.stop();
  });

  it('never starts more calls than the limit within any second', async () => {
    const carrier = place({ cps: 5 });
    const loop = setLoop(() => ask(LOOP, carrier), 30);
    const other = setLoop(() => ask(NEIGHBOUR, carrier), 40);
    await clock.advance(10_000);
    const starts = got.map(({ atMs }) => atMs).sort((a, b) => a - b);
    for (const [index, atMs] of starts.entries()) {
      expect((starts[index + 5] ?? Infinity) - atMs).toBeGreaterThanOrEqual(1000);
    }
    expect(starts.length).toBeGreaterThanOrEqual(45);
    expect(Math.abs(gotBy(LOOP).length - gotBy(NEIGHBOUR).length)).toBeLessThanOrEqual(10);
    loop.stop();
    other.stop();
  });

  it("computes shares from the accounts' own limits", async () => {
    const carrier = place({ cps: 8 });
    const big = account(asAccountId('big'), 30, 300);
    const small = account(asAccountId('small'), 10, 100);
    const loops = [big, small].map((sharer) => setLoop(() => ask(sharer, carrier), 50));
    await clock.advance(20_000);
    const ratio = gotBy(big).length / gotBy(small).length;
    expect(ratio).toBeGreaterThan(2);
    expect(ratio).toBeLessThan(4);
    for (const loop of loops) loop.stop();
  });

  it('refuses a call without a slot at the end of its wait', async () => {
    const carrier = place({ cps: 1, concurrentCalls: 1 });
    await ask(LOOP, carrier);
    void ask(NEIGHBOUR, carrier);
    await clock.advance(WAIT_MS - 1);
    expect(refused).toEqual([]);
    await clock.advance(1);
    expect(refused).toEqual(['otherAccount']);
    got[0]?.slot.release();
    await clock.advance(1000);
    expect(got).toHaveLength(1);
    expect(shares.running('carrier')).toBe(0);
  });

  it('removes a call that ends while it waits', async () => {
    const carrier = place({ concurrentCalls: 1 });
    await ask(LOOP, carrier);
    const gone = new AbortController();
    void ask(NEIGHBOUR, carrier, gone.signal);
    await settle();
    gone.abort();
    await settle();
    got[0]?.slot.release();
    expect(shares.running('carrier')).toBe(0);
    expect(clock.nextMs() ?? 0).toBeLessThanOrEqual(1000);
  });

  it('refuses a call that has already ended without a wait', async () => {
    const carrier = place({ concurrentCalls: 1 });
    await ask(LOOP, carrier);
    void ask(NEIGHBOUR, carrier, AbortSignal.abort());
    await settle();
    expect(refused).toEqual(['otherAccount']);
  });

  it('leaves no listener at the signal of a call that waited', async () => {
    const carrier = place({ concurrentCalls: 1 });
    await ask(LOOP, carrier);
    const { signal } = new AbortController();
    void ask(NEIGHBOUR, carrier, signal);
    await settle();
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    got[0]?.slot.release();
    await settle();
    expect(got).toHaveLength(2);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('limits the waiting calls of one account, not those of others', async () => {
    const carrier = place({ concurrentCalls: 1 });
    await ask(THIRD, carrier);
    for (let call = 0; call < 201; call += 1) void ask(LOOP, carrier);
    await settle();
    expect(refused).toEqual(['loop']);
    void ask(NEIGHBOUR, carrier);
    await settle();
    got[0]?.slot.release();
    await settle();
    expect(got).toHaveLength(2);
  });

  it('does not count an unused slot as a start', async () => {
    const carrier = place({ cps: 1 });
    await ask(LOOP, carrier);
    got[0]?.slot.undo();
    await ask(NEIGHBOUR, carrier);
    expect(got).toHaveLength(2);
    got[0]?.slot.release();
    expect(shares.running('carrier')).toBe(1);
  });
});

describe('a shared limit: concurrent calls', () => {
  it('lets a single account use all of it', async () => {
    const carrier = place({ concurrentCalls: 10 });
    for (let call = 0; call < 10; call += 1) await ask(LOOP, carrier);
    expect(got).toHaveLength(10);
  });

  it('reserves the last tenth for accounts below their share while others are active', async () => {
    const carrier = place({ concurrentCalls: 20 });
    await ask(NEIGHBOUR, carrier);
    got[0]?.slot.release();
    for (let call = 0; call < 20; call += 1) void ask(LOOP, carrier);
    await clock.advance(WAIT_MS);
    expect(gotBy(LOOP)).toHaveLength(18);
    void ask(NEIGHBOUR, carrier);
    void ask(NEIGHBOUR, carrier);
    await settle();
    expect(gotBy(NEIGHBOUR)).toHaveLength(3);
    expect(shares.running('carrier')).toBe(20);
  });

  it('gives a free slot to the account with the smallest usage', async () => {
    const carrier = place({ concurrentCalls: 10 });
    for (let call = 0; call < 10; call += 1) await ask(LOOP, carrier);
    void ask(LOOP, carrier);
    void ask(NEIGHBOUR, carrier);
    await settle();
    got[0]?.slot.release();
    await settle();
    expect(got.map(({ by }) => by).slice(10)).toEqual(['otherAccount']);
  });

  it('does not count unused slots as usage', async () => {
    const carrier = place({ concurrentCalls: 2 });
    for (let call = 0; call < 5; call += 1) {
      await ask(LOOP, carrier);
      got[call]?.slot.undo();
    }
    await ask(NEIGHBOUR, carrier);
    await ask(THIRD, carrier);
    await clock.advance(1000);
    void ask(NEIGHBOUR, carrier);
    void ask(LOOP, carrier);
    await settle();
    gotBy(THIRD)[0]?.slot.release();
    await settle();
    expect(got.at(-1)?.by).toBe('loop');
    expect(got).toHaveLength(8);
  });

  it('does not let a call that does not wait overtake waiting calls', async () => {
    const carrier = place({ cps: 1 });
    await ask(LOOP, carrier);
    void ask(NEIGHBOUR, carrier);
    await clock.advance(999);
    expect(shares.take(carrier, LOOP)).toMatchObject({ ok: false, error: { kind: 'cps' } });
    await clock.advance(1);
    expect(gotBy(NEIGHBOUR)).toHaveLength(1);
  });
});

describe('several limited places', () => {
  const first = place({ concurrentCalls: 1 }, 'first');
  const second = place({ concurrentCalls: 1 }, 'second');

  it('takes the first place with a free slot immediately, in order', async () => {
    await ask(LOOP, [first, second]);
    await ask(NEIGHBOUR, [first, second]);
    expect(got.map(({ index, waitedMs }) => [index, waitedMs])).toEqual([
      [0, 0],
      [1, 0],
    ]);
  });

  it('takes the first place that becomes free, and no second one', async () => {
    await ask(LOOP, [first, second]);
    await ask(LOOP, [first, second]);
    void ask(NEIGHBOUR, [first, second]);
    await clock.advance(300);
    got[1]?.slot.release();
    await settle();
    expect(gotBy(NEIGHBOUR)).toMatchObject([{ index: 1, waitedMs: 300 }]);
    got[0]?.slot.release();
    await clock.advance(5000);
    expect(shares.running('first') + shares.running('second')).toBe(1);
  });
});

/** Starts a call every `everyMs` that ends after 10 ms. */
function setLoop(call: () => Promise<CapacitySlot | undefined>, everyMs: number): { stop(): void } {
  let isOn = true;
  const again = (): void => {
    if (!isOn) return;
    void call().then((slot) => {
      if (slot !== undefined) clock.at(clock.monotonicMs() + 10, () => slot.release());
    });
    clock.at(clock.monotonicMs() + everyMs, again);
  };
  again();
  return {
    stop: () => {
      isOn = false;
    },
  };
}
