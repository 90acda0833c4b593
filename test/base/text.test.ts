import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { ownCopy } from '../../src/base/text.ts';

const MESSAGE_BYTES = 1024 * 1024;
const MESSAGES = 40;

it('copies a text without keeping the original in memory', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const before = process.memoryUsage().heapUsed;
  const retained = Array.from({ length: MESSAGES }, (_, i) => {
    const message = Buffer.alloc(MESSAGE_BYTES, `call ${i} with ü `).toString('utf8');
    return ownCopy(message.slice(0, 20));
  });
  collect();
  expect(retained[7]).toMatch(/^call 7 with ü call/);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(MESSAGES * MESSAGE_BYTES * 0.5);
});
