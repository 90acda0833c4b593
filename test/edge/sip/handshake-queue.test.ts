import { expect, it } from 'vitest';
import { HandshakeQueue } from '../../../src/edge/sip/transport/handshake-queue.ts';
import { SimClock } from '../../sim/clock.ts';

function queue(perSecond = 100) {
  const clock = new SimClock();
  const turns: (() => void)[] = [];
  const begun: string[] = [];
  const handshakes = new HandshakeQueue({ clock, perSecond, later: (work) => turns.push(work) });
  const add = (source: string, isCarrier = false) =>
    handshakes.add(source, isCarrier, () => begun.push(source));
  const turn = (): void => turns.shift()?.();
  return { clock, turns, begun, handshakes, add, turn };
}

it('starts one handshake per turn of the event loop, in round-robin order of the sources', () => {
  const { begun, add, turn, handshakes } = queue();
  for (const source of ['flood', 'flood', 'flood', 'phone', 'other']) add(source);
  turn();
  expect(begun).toEqual(['flood']);
  for (let count = 0; count < 4; count += 1) turn();
  expect(begun).toEqual(['flood', 'phone', 'other', 'flood', 'flood']);
  expect(handshakes.size).toBe(0);
});

it('serves carriers first', () => {
  const { begun, add, turn } = queue();
  add('flood');
  add('carrier', true);
  turn();
  expect(begun).toEqual(['carrier']);
});

it('limits the handshakes per second', async () => {
  const { clock, begun, add, turn, turns } = queue(100);
  for (let count = 0; count < 500; count += 1) add('flood');
  for (let ms = 0; ms < 1000; ms += 10) {
    for (let count = 0; count < 20 && turns.length > 0; count += 1) turn();
    await clock.advance(10);
  }
  expect(begun.length).toBeGreaterThanOrEqual(100);
  expect(begun.length).toBeLessThanOrEqual(111);
});

it('skips cancelled entries', () => {
  const { begun, add, turn, handshakes } = queue();
  const leave = add('gone');
  add('phone');
  leave();
  leave();
  turn();
  expect(begun).toEqual(['phone']);
  expect(handshakes.size).toBe(0);
});
