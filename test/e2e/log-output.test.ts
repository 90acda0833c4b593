/** The service runs and stops as usual when its standard output is a closed pipe or on a full disk. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { someOf } from '../thorough.ts';
import { eventually, newPlace, ROOT, removePlace, type ServicePlace } from './service.ts';

const FULL = '/dev/full';
let place: ServicePlace;
let child: ChildProcess;
afterEach(() => {
  child.kill('SIGKILL');
  removePlace(place);
});

/** Starts the service with this standard output, waits until it is ready, and stops it. Returns its exit code. */
async function served(format: 'json' | 'pretty', output: 'pipe' | number): Promise<unknown> {
  place = await newPlace({ CARILLON_LOG_FORMAT: format });
  child = spawn(process.execPath, ['src/main.ts'], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], ...place.environment },
    stdio: ['ignore', output, 'pipe'],
  });
  // The next write of the service to the pipe fails with EPIPE.
  child.stdout?.destroy();
  let errors = '';
  child.stderr?.on('data', (text: Buffer) => {
    errors += String(text);
  });
  const ended = once(child, 'exit');
  const url = `http://127.0.0.1:${place.environment['CARILLON_HTTP_PORT']}/readyz`;
  await eventually(
    'a ready service',
    async () => {
      if (child.exitCode !== null) throw new Error(errors);
      const answer = await fetch(url).catch(() => undefined);
      return answer?.status === 200 || undefined;
    },
    60_000,
  );
  child.kill('SIGTERM');
  const [code] = await ended;
  return { code, errors };
}

describe.each(someOf(['json', 'pretty'] as const, 1))('a log of format %s', (format) => {
  it('to a closed pipe', async () => {
    expect(await served(format, 'pipe')).toEqual({ code: 0, errors: '' });
  });

  it.skipIf(!existsSync(FULL))('to a full disk', async () => {
    const full = openSync(FULL, 'w');
    try {
      expect(await served(format, full)).toEqual({ code: 0, errors: '' });
    } finally {
      closeSync(full);
    }
  });
});
