import { expect, it } from 'vitest';
import { LiveOutput } from '../../src/service/overhear/listen-in.ts';
import { until } from '../eventually.ts';

/** 20 ms of 16-bit stereo at 16 kHz that begins with its number. */
function frame(number: number): Buffer {
  const bytes = Buffer.alloc(1280);
  bytes.writeUInt32BE(number);
  return bytes;
}

it('a listener who does not read for ten seconds gets the last second, in whole frames and in order', async () => {
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
