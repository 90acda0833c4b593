/** REST on any node controls the calls of all nodes. */
import { beforeEach, expect, it } from 'vitest';
import { asAccountId, asCallUuid } from '../../../src/base/ids.ts';
import { err } from '../../../src/base/result.ts';
import { Peers } from '../../../src/domain/cluster/cluster.ts';
import { callKey, shareControl } from '../../../src/domain/dispatch/dispatch.ts';
import type { CallControl, ControlRefusal } from '../../../src/domain/dispatch/types.ts';
import { aLiveCall, FakeControl } from '../../spec/fake-control.ts';
import { MemoryBus } from './memory-bus.ts';

const ACCOUNT = asAccountId('MA_A');
const CALL = asCallUuid('11111111-1111-4111-8111-111111111111');
const NONE: ControlRefusal = { kind: 'notFound', what: 'call' };

let bus: MemoryBus;
let own: Readonly<Record<string, FakeControl>>;
let living: readonly string[] | undefined;
let control: Readonly<Record<'a' | 'b' | 'c', CallControl>>;
beforeEach(() => {
  bus = new MemoryBus();
  living = ['a', 'b', 'c'];
  own = Object.fromEntries(living.map((node) => [node, new FakeControl()]));
  const shared = ['a', 'b', 'c'].map((nodeId) => {
    const peers = new Peers({ ...bus.join(nodeId), nodeId, living: () => living });
    const fake = own[nodeId] as FakeControl;
    fake.outcome = err(NONE);
    return [nodeId, shareControl(fake, peers)] as const;
  });
  control = Object.fromEntries(shared) as typeof control;
  const owner = own['b'] as FakeControl;
  owner.outcome = { ok: true, value: undefined };
  owner.calls = [aLiveCall({ callUuid: CALL, accountId: ACCOUNT })];
  bus.entries.set(callKey(CALL), 'b');
});

it('hangs up a remote call on the node that the directory names', async () => {
  expect(await control.a.hangup(ACCOUNT, CALL)).toMatchObject({ ok: true });
  expect(own['b']?.requested).toEqual([{ operation: 'hangup', args: [ACCOUNT, CALL] }]);
  expect(bus.requested).toEqual(['a>b control.hangup']);
});

it('asks the last known owner first and uses the directory if it no longer has the call', async () => {
  await control.a.hangup(ACCOUNT, CALL);
  bus.entries.set(callKey(CALL), 'c');
  await control.a.hangup(ACCOUNT, CALL);
  expect(bus.requested).toEqual(['a>b control.hangup', 'a>b control.hangup']);
  bus.requested.length = 0;
  (own['b'] as FakeControl).outcome = err(NONE);
  (own['c'] as FakeControl).outcome = { ok: true, value: undefined };
  expect(await control.a.hangup(ACCOUNT, CALL)).toMatchObject({ ok: true });
  expect(bus.requested).toEqual(['a>b control.hangup', 'a>c control.hangup']);
  // The node does not answer: the request fails, and the next one uses the directory.
  bus.cutOff.add('c');
  const code = { code: 'NODE_UNREACHABLE' };
  await expect(control.a.hangup(ACCOUNT, CALL)).rejects.toMatchObject(code);
  bus.cutOff.clear();
  bus.entries.set(callKey(CALL), 'c');
  expect(await control.a.hangup(ACCOUNT, CALL)).toMatchObject({ ok: true });
});

it('handles a local call without requests to other nodes', async () => {
  expect(await control.b.hangup(ACCOUNT, CALL)).toMatchObject({ ok: true });
  expect(bus.requested).toEqual([]);
});

it('finds a call that is missing in the directory', async () => {
  bus.entries.clear();
  expect(await control.a.hangup(ACCOUNT, CALL)).toMatchObject({ ok: true });
  expect(await control.c.liveCall(ACCOUNT, CALL)).toMatchObject({ callUuid: CALL });
});

it('reports a call as unknown only if all nodes answered, otherwise as an error', async () => {
  (own['b'] as FakeControl).outcome = err(NONE);
  bus.entries.clear();
  expect(await control.a.hangup(ACCOUNT, CALL)).toEqual(err(NONE));
  bus.cutOff.add('c');
  await expect(control.a.hangup(ACCOUNT, CALL)).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
});

it('fails lists while the live nodes are unknown, but finds calls in the directory', async () => {
  living = undefined;
  expect(await control.a.hangup(ACCOUNT, CALL)).toMatchObject({ ok: true });
  const unknown = { code: 'NODE_UNREACHABLE' };
  await expect(control.a.liveCalls(ACCOUNT, 'live')).rejects.toMatchObject(unknown);
  bus.entries.clear();
  await expect(control.a.hangup(ACCOUNT, CALL)).rejects.toMatchObject(unknown);
});

it('ignores directory entries of a dead node', async () => {
  living = ['a', 'c'];
  bus.cutOff.add('b');
  expect(await control.a.hangup(ACCOUNT, CALL)).toEqual(err(NONE));
});

it("returns the refusal of the call's own node", async () => {
  const refusal: ControlRefusal = { kind: 'wrongState', detail: 'not answered' };
  (own['b'] as FakeControl).outcome = err(refusal);
  expect(await control.a.play(ACCOUNT, CALL, {} as never)).toEqual(err(refusal));
});

it('merges the lists of all nodes and fails if one does not answer', async () => {
  (own['c'] as FakeControl).calls = [aLiveCall({ accountId: ACCOUNT })];
  expect(await control.a.liveCalls(ACCOUNT, 'live')).toHaveLength(2);
  bus.cutOff.add('c');
  const code = { code: 'NODE_UNREACHABLE' };
  await expect(control.a.liveCalls(ACCOUNT, 'live')).rejects.toMatchObject(code);
});

it('ends all conferences on all nodes', async () => {
  expect(await control.a.endConference(ACCOUNT, undefined)).toEqual({ ok: true, value: undefined });
  for (const node of ['a', 'b', 'c'])
    expect(own[node]?.requested.map(({ operation }) => operation)).toEqual(['endConference']);
});
