import { expect, it } from 'vitest';
import { haveOthersAgreed } from '../../../src/domain/call/types.ts';
import { AGREED, placeIn } from '../../../src/domain/interpreter/conference/between-nodes.ts';
import { SharedConferences } from '../../../src/domain/interpreter/conference/shared-conferences.ts';
import { SimClock } from '../../sim/clock.ts';

it('releases the claim of a conference that cannot be entered', async () => {
  const released: string[] = [];
  const claims = {
    claim: async () => 'own',
    release: (key: string) => released.push(key),
    onLost: () => undefined,
  };
  const own = {
    enterHere: () => {
      throw new Error('no room');
    },
  };
  const conferences = new SharedConferences({
    own,
    claims,
    nodeId: 'own',
    living: () => ['own'],
    bus: { answer: () => undefined },
    clock: new SimClock(),
  } as never);
  const call = { uuid: 'a', identity: { accountId: 'MA_ONE' } };
  const { signal } = new AbortController();
  const entering = conferences.enter({ room: 'Weekly' } as never, { call, signal } as never);
  await expect(entering).rejects.toThrow('no room');
  expect(released).toHaveLength(1);
});

it('ignores a late report about consent from the node that a conference has left', async () => {
  const handlers = new Map<string, (...given: unknown[]) => Promise<unknown>>();
  const places = ['first', 'second'].map((uuid) => ({
    room: { uuid, name: 'Weekly', hasBegun: true },
    member: { id: '1', left: Promise.withResolvers<string>() },
  }));
  const entering = places.map(({ room, member }) => ({
    room,
    member: { id: member.id, left: member.left.promise },
    leave: async () => undefined,
  }));
  const claims = { claim: async () => 'own', release: () => undefined, onLost: () => undefined };
  const conferences = new SharedConferences({
    own: { enterHere: () => entering.shift() },
    claims,
    nodeId: 'own',
    living: () => ['own'],
    bus: { answer: (name: string, handler: never) => handlers.set(name, handler) },
    clock: new SimClock(),
  } as never);
  const call = {
    uuid: 'a',
    identity: { accountId: 'MA_ONE' },
    nowUs: () => 0,
    log: { add: () => undefined },
  };
  const { signal } = new AbortController();
  const needs = { recorder: { stop: () => false } };
  await conferences.enter({ room: 'Weekly' } as never, { call, signal, needs } as never);
  const [old, next] = places;
  if (old === undefined || next === undefined) throw new Error('no places');
  const report = (agreed: boolean, { room, member }: typeof old) =>
    handlers.get(AGREED)?.('a', agreed, placeIn(room as never, member));
  await report(false, old);
  expect(haveOthersAgreed(call)).toBe(false);
  old.member.left.resolve('moved');
  await new Promise(setImmediate);
  expect(haveOthersAgreed(call)).toBe(true);
  await report(false, next);
  await report(true, old);
  expect(haveOthersAgreed(call)).toBe(false);
});
