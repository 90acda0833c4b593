import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const BIN = fileURLToPath(new URL('../../bin/carillon.mjs', import.meta.url));
const carillon = (...args: string[]) =>
  spawnSync(process.execPath, [BIN, ...args], { encoding: 'utf8', env: { PATH: '/usr/bin:/bin' } });

describe('bin/carillon.mjs', () => {
  it('shows the available commands', () => {
    const { status, stdout } = carillon('--help');
    expect(status).toBe(0);
    for (const command of ['accounts', 'credit', 'calls', 'backup', 'verify', 'stream']) {
      expect(stdout).toContain(command);
    }
  });

  it('exits with status 1 and one line on an error', () => {
    const { status, stdout, stderr } = carillon('--data-dir', '/nonexistent', 'status');
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});
