import { expect, it } from 'vitest';
import { OneWayAudioDetector } from '../../../src/domain/call/one-way-audio.ts';

it('reports a peer as unheard 10 s after the answer without RTP, and as heard at its first packet', () => {
  const hearing = new OneWayAudioDetector();
  expect(hearing.look(0, 60_000)).toBeUndefined();
  hearing.expect(true, 60_000);
  expect(hearing.look(0, 69_999)).toBeUndefined();
  expect(hearing.look(0, 70_000)).toBe('unheard');
  expect(hearing.look(0, 75_000)).toBeUndefined();
  expect(hearing.unheardMs(0, 75_000)).toBe(15_000);
  expect(hearing.look(1, 80_000)).toBe('heard');
  expect(hearing.unheardMs(1, 80_000)).toBeUndefined();
});

it('does not count time on hold, and sums the time before and after it', () => {
  const hearing = new OneWayAudioDetector();
  hearing.expect(true, 0);
  hearing.expect(false, 6000);
  expect(hearing.look(0, 600_000)).toBeUndefined();
  hearing.expect(true, 600_000);
  expect(hearing.look(0, 603_000)).toBeUndefined();
  expect(hearing.look(0, 604_000)).toBe('unheard');
});

it('does not report a peer that has ever sent RTP', () => {
  const hearing = new OneWayAudioDetector();
  hearing.expect(true, 0);
  expect(hearing.look(1, 9000)).toBeUndefined();
  expect(hearing.look(1, 3_600_000)).toBeUndefined();
});
