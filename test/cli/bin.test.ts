import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';

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

  it('names a data folder that this user may not read', () => {
    const folder = mkdtempSync(join(tmpdir(), 'carillon-bin-'));
    // Root may read everything.
    const user = process.getuid?.() === 0 ? { uid: 65_534 } : {};
    chmodSync(folder, 0o000);
    for (const command of ['status', 'campaigns']) {
      const args = [BIN, '--data-dir', folder, command, ...(command === 'status' ? [] : ['list'])];
      const env = { PATH: '/usr/bin:/bin' };
      const { stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env, ...user });
      expect(stderr).toContain(`this user may not read ${folder}/`);
    }
    rmSync(folder, { recursive: true });
  });

  it('prints one line for a file that is not speech', () => {
    const args = ['stream', 'test', 'ws://127.0.0.1:9', '--wav', BIN];
    const { status, stderr } = carillon(...args);
    expect([status, stderr.trim().split('\n')]).toEqual([1, [expect.stringContaining(BIN)]]);
  });
});

describe('the output of bin/carillon.mjs', () => {
  const closing: (() => void)[] = [];
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });

  /** A service whose exports never end. */
  async function endless(): Promise<string> {
    const server = createServer((_, reply) => {
      const timer = setInterval(() => reply.write('row\n'.repeat(1000)), 5);
      reply.on('close', () => clearInterval(timer));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  const shell = async (line: string, env: Readonly<Record<string, string>> = {}) => {
    const child = spawn('bash', ['--norc', '-c', line, process.execPath, BIN], {
      env: { PATH: '/usr/bin:/bin', CARILLON_ADMIN_TOKEN: 't', ...env },
    });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.stdout.resume();
    const [status] = await once(child, 'close');
    return { status, stderr };
  };

  it('fails if it cannot be written', async () => {
    const outcome = await shell('"$0" "$1" --help > /dev/full');
    expect(outcome).toEqual({
      status: 1,
      stderr: 'cannot write the output: ENOSPC: no space left on device, write\n',
    });
    const export_ = '"$0" "$1" export ledger MA_1 > /dev/full';
    expect(await shell(export_, { CARILLON_URL: await endless() })).toEqual(outcome);
  });

  it('ends the command with its reader', async () => {
    const line = 'set -o pipefail; "$0" "$1" export ledger MA_1 | head -1';
    expect(await shell(line, { CARILLON_URL: await endless() })).toEqual({
      status: 141,
      stderr: '',
    });
  });
});

describe('bin/carillon.mjs on an older Node', () => {
  const OLDER = `data:text/javascript,${encodeURIComponent(
    "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.0.0' } });",
  )}`;

  it('passes SIGTERM on, and ends as the command ends', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    // The service does not answer.
    const asked = once(server, 'request');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const options = ['--url', url, '--token', 't'];
    const child = spawn(process.execPath, ['--import', OLDER, BIN, ...options, 'status']);
    const ended = once(child, 'exit');
    const [request] = await asked;
    child.kill('SIGTERM');
    expect(await ended).toEqual([null, 'SIGTERM']);
    await eventually('the end of the command', () => request.socket.destroyed || undefined);
    server.close();
  });
});
