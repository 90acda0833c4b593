/** Runs the commands of docs/guides/load-testing.md in order. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  eventually,
  newPlace,
  ROOT,
  removePlace,
  Service,
  type ServicePlace,
} from '../e2e/service.ts';
import { missing, workFolder } from './tools.ts';

const PAGE = readFileSync(join(ROOT, 'docs/guides/load-testing.md'), 'utf8');
const COMMANDS = [...PAGE.matchAll(/^```sh sipp\n([\s\S]*?)^```$/gm)].map(([, block]) => block);
const CALLS = 500;
const CALLS_OF_PHONES = 20;

describe.skipIf(missing('sipp', 'curl', 'bash', 'sox'))('the load testing guide', () => {
  let place: ServicePlace;
  let service: Service;
  let folder: ReturnType<typeof workFolder>;

  beforeAll(async () => {
    folder = workFolder();
    place = await newPlace({ CARILLON_RTP_PORT_MIN: '50000', CARILLON_RTP_PORT_MAX: '53999' });
    service = await Service.start(place);
    symlinkSync(place.dataDir, join(folder.path, 'data'));
    symlinkSync(join(ROOT, 'examples'), join(folder.path, 'examples'));
    mkdirSync(join(folder.path, 'bin'));
    const npx = join(folder.path, 'bin/npx');
    writeFileSync(
      npx,
      `#!/bin/sh\np=$1; shift; [ "$p" = carillon ] && set -- ${ROOT}/bin/carillon.mjs "$@"; exec ${process.execPath} "$@"\n`,
    );
    chmodSync(npx, 0o755);
  });
  afterAll(async () => {
    await service.kill();
    removePlace(place);
    folder.remove();
  });

  it('has commands whose calls all succeed and are billed', async () => {
    const script = COMMANDS.join('\n')
      .replaceAll('http://127.0.0.1:8080', service.baseUrl)
      .replaceAll('127.0.0.1:5060', `127.0.0.1:${service.sipPort}`);
    // A separate process group, so that the page's background processes end with it.
    const shell = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
      cwd: folder.path,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...place.environment, PATH: `${folder.path}/bin:${process.env['PATH']}` },
    });
    const said = Promise.all([text(shell.stdout), text(shell.stderr)]);
    const [status] = (await once(shell, 'exit')) as [number | null];
    process.kill(-(shell.pid ?? 0), 'SIGKILL');
    const [out, errors] = await said;
    expect([status, status === 0 ? '' : out.slice(-3000) + errors]).toEqual([0, '']);
    const done = [...out.matchAll(/Successful call +\| +\d+ +\| +(\d+)/g)].map(([, n]) =>
      Number(n),
    );
    expect(done).toEqual([CALLS, CALLS_OF_PHONES]);
    const records = await eventually('a record of every leg', async () => {
      const { body } = await service.api('GET', 'cdr?per_page=1');
      const total = Number((body['pagination'] as { total?: number } | undefined)?.total ?? 0);
      return total >= 2 * CALLS + CALLS_OF_PHONES ? total : undefined;
    });
    expect(records).toBe(2 * CALLS + CALLS_OF_PHONES);
  });
});
