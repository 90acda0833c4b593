import { expect, it } from 'vitest';
import { LiveOutput } from '../../src/service/listen-in/call-listening.ts';
import { until } from '../eventually.ts';

/** Returns 20 ms of 16-bit stereo at 8 kHz that start with a number. */
function frame(number: number): Buffer {
  const bytes = Buffer.alloc(1280);
  bytes.writeUInt32BE(number);
  return bytes;
}

it('gives a listener who did not read for ten seconds the last second, in whole frames and in order', async () => {
  const numbers: number[] = [];
  const live = new LiveOutput();
  live.on('data', (bytes: Buffer) => numbers.push(bytes.readUInt32BE()));
  live.pause();
  for (let number = 0; number < 500; number += 1) live.offer(frame(number));
  live.resume();
  await until(() => numbers.at(-1) === 499, 'the present');
  expect(numbers.length).toBeLessThanOrEqual(52);
  expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
});
