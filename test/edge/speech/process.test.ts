import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { processRunner } from '../../../src/edge/speech/process.ts';

const LIMITS = { timeLimitMs: 20_000, maxOutputBytes: 1000 };
const MODULE = fileURLToPath(new URL('../../../src/edge/speech/process.ts', import.meta.url));

describe('a program', () => {
  it('receives the text and returns its output', async () => {
    const result = await processRunner(LIMITS)('cat', [], 'hello');
    expect(result.ok && Buffer.from(result.value).toString()).toBe('hello');
  });

  it('that fails, produces too much output or runs for too long is a fault with a reason', async () => {
    const run = processRunner(LIMITS);
    expect(await run('sh', ['-c', 'echo no >&2; exit 3'], '')).toMatchObject({
      error: { kind: 'failed', detail: 'sh ended with 3: no' },
    });
    const timeout = { error: { kind: 'timeout' } };
    const short = processRunner({ ...LIMITS, timeLimitMs: 50 });
    expect(await short('sh', ['-c', 'exec sleep 60'], '')).toMatchObject(timeout);
    expect(await run('yes', [], '')).toMatchObject(timeout);
  });

  it('that is absent leaves no timer, which would keep a command from ending', () => {
    const script = `
      import { processRunner } from ${JSON.stringify(MODULE)};
      const { error } = await processRunner(${JSON.stringify(LIMITS)})('absent-program', [], '');
      console.log(error.kind, process.getActiveResourcesInfo().includes('Timeout'));`;
    const args = ['--input-type=module', '-e', script];
    expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toBe('absent false\n');
  });

  it('that cannot be started without free file descriptors is a fault, not an uncaught exception', () => {
    const script = `
      import { openSync } from 'node:fs';
      import { processRunner } from ${JSON.stringify(MODULE)};
      try {
        for (;;) openSync('/dev/null');
      } catch {}
      const { error } = await processRunner(${JSON.stringify(LIMITS)})('cat', [], '');
      console.log(error.kind, error.detail, process.getActiveResourcesInfo().includes('Timeout'));`;
    const limited = 'ulimit -n 64; exec "$@"';
    const args = ['-c', limited, 'sh', process.execPath, '--input-type=module', '-e', script];
    expect(execFileSync('sh', args, { encoding: 'utf8' })).toBe('failed spawn cat EMFILE false\n');
  });
});
