import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, expect, it, vi } from 'vitest';
import { ConversionThread } from '../../../src/edge/audio/conversion-thread.ts';
import { until } from '../../eventually.ts';
import { wavFile } from '../../protocol/audio-file/signals.ts';
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

it('fails a job that the system gives no thread, and runs the next ones', async () => {
  const refused = new Error('Worker initialization failure: EAGAIN');
  vi.spyOn(Worker.prototype, 'postMessage').mockImplementationOnce(() => {
    throw refused;
  });
  const clock = new SimClock();
  const thread = new ConversionThread({ clock, timeLimitMs: 600_000, maxWaiting: 1 });
  const jobs = [thread.run({ kind: 'warm' }), thread.run({ kind: 'warm' })];
  expect(await Promise.all(jobs)).toEqual([
    { kind: 'failed', failure: 'failed', detail: refused.message },
    { kind: 'warmed' },
  ]);
  await thread.stop();
});

it('leaves no part of a file when it aborts an encoding', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-abort-'));
  try {
    const [wavPath, mp3Path] = [join(folder, 'a.wav'), join(folder, 'a.mp3')];
    // One hour of silence.
    const data = new Uint8Array(3600 * 8000 * 4);
    writeFileSync(wavPath, wavFile({ format: 1, bits: 16, channels: 2, rate: 8000, data }));
    const clock = new SimClock();
    const thread = new ConversionThread({ clock, timeLimitMs: 1000, maxWaiting: 1 });
    const done = thread.run({ kind: 'encodeMp3', wavPath, mp3Path });
    await until(() => existsSync(`${mp3Path}.part`), 'the part');
    await clock.advance(1000);
    expect(await done).toMatchObject({ kind: 'failed', detail: 'took longer than 1 s' });
    await thread.stop();
    expect(readdirSync(folder)).toEqual(['a.wav']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
