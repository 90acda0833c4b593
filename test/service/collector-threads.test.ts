import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

const PROGRAM = `
  import { readdirSync, readFileSync } from 'node:fs';
  import { getPriority } from 'node:os';
  import { lowerCollectorThreads } from './src/service/collector-threads.ts';
  const before = getPriority();
  lowerCollectorThreads();
  const threads = readdirSync('/proc/self/task').map((thread) => ({
    name: readFileSync('/proc/self/task/' + thread + '/comm', 'utf8').trim(),
    lower: getPriority(Number(thread)) - before,
  }));
  console.log(JSON.stringify(threads));
`;

describe.runIf(process.platform === 'linux')('garbage collector threads', () => {
  it('have a lower priority than all others', () => {
    const program = ['--input-type=module', '-e', PROGRAM];
    const said = execFileSync(process.execPath, program, { encoding: 'utf8' });
    const threads = JSON.parse(said) as { name: string; lower: number }[];
    const lower = threads.filter(({ name }) => name === 'V8Worker').map((one) => one.lower);
    expect(lower.length).toBeGreaterThan(0);
    expect(new Set(lower)).toEqual(new Set([10]));
    const others = threads.filter(({ name }) => name !== 'V8Worker').map((one) => one.lower);
    expect(new Set(others)).toEqual(new Set([0]));
  });
});
