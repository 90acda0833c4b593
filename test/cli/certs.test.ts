import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';

const BIN = fileURLToPath(new URL('../../bin/carillon.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'carillon-certs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const certs = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [BIN, '--json', 'certs', 'plivo', '--out', folder, ...args],
    { encoding: 'utf8', env: { PATH: '/usr/bin:/bin' } },
  );
  expect([status, status === 0 || stderr]).toEqual([0, true]);
  return JSON.parse(stdout);
};

it('a client that trusts the authority can connect to the vendor host name and to custom names', async () => {
  const made = certs('--address', '192.0.2.10', '--also', 'voice.example');
  expect(made).toMatchObject({
    hosts_line: '192.0.2.10 api.plivo.com',
    application: { NODE_EXTRA_CA_CERTS: join(folder, 'ca.crt') },
    settings: { CARILLON_HTTP_PORT: '443', CARILLON_HTTP_TLS_KEY_FILE: join(folder, 'server.key') },
  });
  expect(statSync(join(folder, 'ca.key')).mode & 0o777).toBe(0o600);
  const server = createServer({
    cert: readFileSync(join(folder, 'server.crt')),
    key: readFileSync(join(folder, 'server.key')),
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const ca = readFileSync(join(folder, 'ca.crt'));
  try {
    for (const servername of ['api.plivo.com', 'voice.example']) {
      const socket = connect({ host: '127.0.0.1', port, servername, ca });
      await once(socket, 'secureConnect');
      expect(socket.authorized).toBe(true);
      socket.destroy();
    }
    const other = connect({ host: '127.0.0.1', port, servername: 'other.example', ca });
    await expect(once(other, 'secureConnect')).rejects.toThrow(/altnames/);
  } finally {
    server.close();
  }
});

it('a second run keeps the authority that applications already trust', () => {
  const before = readFileSync(join(folder, 'ca.crt'), 'utf8');
  const certificate = readFileSync(join(folder, 'server.crt'), 'utf8');
  certs();
  expect(readFileSync(join(folder, 'ca.crt'), 'utf8')).toBe(before);
  expect(readFileSync(join(folder, 'server.crt'), 'utf8')).not.toBe(certificate);
});

it('a second run makes a server key private that others could read', () => {
  const key = join(folder, 'server.key');
  chmodSync(key, 0o644);
  certs();
  expect(statSync(key).mode & 0o777).toBe(0o600);
});
