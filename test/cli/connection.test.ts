/** How commands find and reach the service. */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createPlainServer } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findService } from '../../src/cli/connection.ts';
import { TestTerminal } from './terminal.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'carillon-cli-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

it('reaches the service of the data folder over TLS, although its certificate has its public name', async () => {
  const pems = await generate([{ name: 'commonName', value: 'voice.example' }]);
  const server = createServer({ cert: pems.cert, key: pems.private }, (_request, response) =>
    response.end('reached'),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    writeFileSync(join(dataDir, 'service.json'), JSON.stringify({ url }));
    const env = { CARILLON_PUBLIC_URL: 'https://voice.example', CARILLON_HTTP_HOST: '0.0.0.0' };
    const found = findService({ dataDir }, env);
    expect(found.url).toBe(url);
    const reply = await found.fetch(found.url);
    expect(await reply.text()).toBe('reached');
    // A URL that the operator names is verified.
    const named = findService({ url }, {});
    await expect(named.fetch(named.url)).rejects.toThrow();
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

it('without a service in the data folder, reads the address from the environment', () => {
  const urlOf = (env: Record<string, string>) => findService({ dataDir }, env).url;
  expect(urlOf({})).toBe('http://127.0.0.1:8080');
  expect(urlOf({ CARILLON_HTTP_HOST: '::1', CARILLON_HTTP_PORT: '90' })).toBe('http://[::1]:90');
  expect(urlOf({ CARILLON_PUBLIC_URL: 'https://voice.example/' })).toBe('https://voice.example');
});

it('treats empty variables as missing, and refuses a URL that it cannot use without its password', async () => {
  writeFileSync(join(dataDir, 'service.json'), JSON.stringify({ url: 'http://127.0.0.1:1' }));
  expect(findService({ dataDir }, { CARILLON_URL: '' }).url).toBe('http://127.0.0.1:1');
  const terminal = new TestTerminal();
  for (const url of ['http://bob:s3cret@127.0.0.1:1', 'ftp://127.0.0.1', 's3cret']) {
    terminal.clear();
    await terminal.run(['--url', url, '--token', 't', 'accounts', 'list'], {});
    expect(terminal.failed).toBe(true);
    expect(terminal.notes).toContain('the URL of the service must');
    expect(terminal.notes).not.toContain('s3cret');
  }
});

it('finds the token in the data folder of the settings file', async () => {
  let given: string | undefined;
  const server = createPlainServer((request, response) => {
    given = request.headers.authorization;
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const folder = join(dataDir, 'elsewhere');
    mkdirSync(join(folder, 'keys'), { recursive: true });
    writeFileSync(join(folder, 'keys', 'admin.token'), 'of-the-folder\n');
    const settings = join(dataDir, 'settings.yaml');
    writeFileSync(settings, `dataDir: ${folder}\n`);
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const terminal = new TestTerminal();
    await terminal.run(['config', 'reload'], { CARILLON_CONFIG: settings, CARILLON_URL: url });
    expect(given).toBe('Bearer of-the-folder');
    const other = { CARILLON_CONFIG: settings, CARILLON_URL: url, CARILLON_DATA_DIR: dataDir };
    await terminal.run(['config', 'reload'], other);
    expect(terminal.notes).toContain(join(dataDir, 'keys', 'admin.token'));
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
