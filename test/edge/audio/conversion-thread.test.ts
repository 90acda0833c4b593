import { Worker } from 'node:worker_threads';
import { afterEach, expect, it, vi } from 'vitest';
import { ConversionThread } from '../../../src/edge/audio/conversion-thread.ts';
import { SimClock } from '../../sim/clock.ts';

afterEach(() => vi.restoreAllMocks());

it('ends a thread after an idle minute, and starts another for the next job', async () => {
  const ended = vi.spyOn(Worker.prototype, 'terminate');
  const clock = new SimClock();
  const thread = new ConversionThread({ clock, timeLimitMs: 600_000, maxWaiting: 1 });
  expect(await thread.run({ kind: 'warm' })).toEqual({ kind: 'warmed' });
  await clock.advance(50_000);
  expect(await thread.run({ kind: 'warm' })).toEqual({ kind: 'warmed' });
  await clock.advance(59_000);
  expect(ended).not.toHaveBeenCalled();
  await clock.advance(1000);
  expect(ended).toHaveBeenCalledTimes(1);
  expect(await thread.run({ kind: 'warm' })).toEqual({ kind: 'warmed' });
  await thread.stop();
  expect(ended).toHaveBeenCalledTimes(2);
});

it('survives an error of a thread that is being terminated', async () => {
  const terminate = Worker.prototype.terminate;
  vi.spyOn(Worker.prototype, 'terminate').mockImplementation(function (this: Worker) {
    this.emit('error', new Error('late'));
    return terminate.call(this);
  });
  const thread = new ConversionThread({
    clock: new SimClock(),
    timeLimitMs: 600_000,
    maxWaiting: 1,
  });
  await thread.run({ kind: 'warm' });
  await expect(thread.stop()).resolves.toBeUndefined();
});
