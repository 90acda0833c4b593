import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { ROOT } from './e2e/service.ts';
import { readNumber, SEED } from './number-option.ts';

it('accepts numbers within the range only', () => {
  const minutes = { least: 0.5, most: 10, isWhole: false };
  expect(readNumber('minutes', '0.5', minutes)).toBe(0.5);
  expect(readNumber('seed', '0', SEED)).toBe(0);
  for (const given of ['', 'x', '0', '11', 'NaN'])
    expect(readNumber('minutes', given, minutes)).toBe(
      `--minutes must be a number from 0.5 to 10, not '${given}'`,
    );
  for (const given of ['1.5', '-1', '2O', '1e300'])
    expect(readNumber('seed', given, SEED)).toBeTypeOf('string');
});

it('a simulation without seeds or scenarios fails', () => {
  const simulate = (...args: string[]) =>
    spawnSync(process.execPath, ['test/sim/run.ts', ...args], { cwd: ROOT, encoding: 'utf8' });
  expect(simulate('--seeds', '2O')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining(
      "--seeds must be a whole number from 1 to 1000000000, not '2O'",
    ),
  });
  expect(simulate('--only', 'no such title')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("no scenario has 'no such title' in its title"),
  });
});
