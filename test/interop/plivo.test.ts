/**
 * Plivo's Node library in its documented setup: the vendor's host name mapped in /etc/hosts, and the certificate from
 * `carillon certs plivo`. Runs in a separate network and mount namespace.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'carillon-plivo-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const mayUnshare = spawnSync('unshare', ['-mn', 'true']).status === 0;

const CLIENT = `
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
const plivo = createRequire('${ROOT}/package.json')('plivo');
const { authId, authToken } = JSON.parse(readFileSync('${folder}/data/demo.json'));
const client = new plivo.Client(authId, authToken);
const log = console.log;
console.log = () => undefined;
const answer = { answerUrl: 'https://a.example/answer' };
const made = await client.applications.create('mapped', answer);
const listed = await client.applications.list();
const endpoint = await client.endpoints.create('desk', 'longenough1', 'desk', made.appId);
const account = await client.accounts.get();
const rooms = await client.multiPartyCalls.list({});
const live = await client.calls.listLiveCalls();
log(JSON.stringify({
  made: made.message, listed: listed.some((app) => app.appId === made.appId),
  username: endpoint.username, account: typeof account.name === 'string', rooms: rooms.length, live: live.length ?? 0,
}));
`;

describe.skipIf(!mayUnshare)('plivo-node with its vendor host name', () => {
  beforeAll(() => {
    const certs = spawnSync(
      process.execPath,
      [join(ROOT, 'bin/carillon.mjs'), 'certs', 'plivo', '--out', join(folder, 'certs')],
      { encoding: 'utf8' },
    );
    expect([certs.status, certs.status === 0 || certs.stderr]).toEqual([0, true]);
    writeFileSync(join(folder, 'hosts'), '127.0.0.1 localhost api.plivo.com\n');
    writeFileSync(join(folder, 'client.mjs'), CLIENT);
  });

  it('works without changes', () => {
    const script = `
      ip link set lo up && mount --bind ${folder}/hosts /etc/hosts
      ${process.execPath} ${ROOT}/src/main.ts > ${folder}/log 2>&1 &
      service=$!
      for i in $(seq 300); do grep -q 'carillon is up' ${folder}/log && break; kill -0 $service || break; sleep 0.1; done
      NODE_EXTRA_CA_CERTS=${folder}/certs/ca.crt ${process.execPath} ${folder}/client.mjs; status=$?
      kill $service; wait $service; exit $status`;
    const run = spawnSync('unshare', ['-mn', 'bash', '-c', script], {
      encoding: 'utf8',
      timeout: 60_000,
      env: {
        PATH: process.env['PATH'],
        HOME: folder,
        CARILLON_DATA_DIR: join(folder, 'data'),
        CARILLON_LOG_FORMAT: 'json',
        CARILLON_HTTP_PORT: '443',
        CARILLON_HTTP_TLS_CERT_FILE: join(folder, 'certs/server.crt'),
        CARILLON_HTTP_TLS_KEY_FILE: join(folder, 'certs/server.key'),
      },
    });
    expect([run.status, run.status === 0 ? '' : run.stderr]).toEqual([0, '']);
    expect(JSON.parse(run.stdout)).toMatchObject({
      made: 'created',
      listed: true,
      account: true,
      rooms: 0,
      live: 0,
      username: expect.stringMatching(/^desk\d+$/),
    });
  });
});
