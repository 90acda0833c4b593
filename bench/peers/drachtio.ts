/** drachtio-server, and a B2BUA of drachtio-srf that owns its process: together they are the peer. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Given } from './drachtio-app.ts';
import { CORE, end, leftOut, programOf, type RunningPeer } from './peer.ts';

const HOST = '127.0.0.1';
const ADMIN_PORT = 19_022;
const SECRET = 'bench';
const START_MS = 20_000;

export interface DrachtioPrograms {
  readonly server: string;
  /** Folder of the drachtio-srf package. */
  readonly srf: string;
}

export function drachtioPrograms(): DrachtioPrograms | undefined {
  const server = programOf('drachtio', 'BENCH_DRACHTIO');
  if (server === undefined) return undefined;
  const folder = process.env['BENCH_DRACHTIO_SRF'] ?? process.cwd();
  try {
    return { server, srf: createRequire(join(folder, 'package.json')).resolve('drachtio-srf') };
  } catch {
    leftOut('drachtio-srf is not installed in the folder that BENCH_DRACHTIO_SRF names');
    return undefined;
  }
}

export interface DrachtioOptions {
  readonly programs: DrachtioPrograms;
  readonly folder: string;
  readonly sipPort: number;
  readonly calleePort: number;
}

const configuration = (sipPort: number): string => `<drachtio>
<admin port="${ADMIN_PORT}" secret="${SECRET}">${HOST}</admin>
<sip><contacts><contact>sip:${HOST}:${sipPort};transport=udp</contact></contacts></sip>
<cdrs>false</cdrs>
<logging><console/><sofia-loglevel>0</sofia-loglevel><loglevel>error</loglevel></logging>
</drachtio>`;

export async function startDrachtio(options: DrachtioOptions): Promise<RunningPeer> {
  const { programs, sipPort, calleePort } = options;
  const folder = mkdtempSync(join(options.folder, 'drachtio-'));
  const config = join(folder, 'drachtio.conf.xml');
  writeFileSync(config, configuration(sipPort));
  const given: Given = {
    ...programs,
    config,
    admin: { host: HOST, port: ADMIN_PORT, secret: SECRET },
    callee: `sip:callee@${HOST}:${calleePort}`,
  };
  const app = fileURLToPath(new URL('./drachtio-app.ts', import.meta.url));
  const node = [process.execPath, app, JSON.stringify(given)];
  const child: ChildProcess = spawn('taskset', ['-c', String(CORE), ...node], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  // It takes its server with it.
  const stop = async (): Promise<void> => {
    if (!child.connected) return end(child);
    const over = once(child, 'exit');
    child.disconnect();
    await over;
  };
  const limit = AbortSignal.timeout(START_MS);
  const gone = once(child, 'exit', { signal: limit }).then(() => {
    throw new Error('drachtio does not start');
  });
  gone.catch(() => undefined);
  try {
    await Promise.race([once(child, 'message', { signal: limit }), gone]);
  } catch (error) {
    await stop();
    throw error;
  }
  return { pid: child.pid ?? 0, stop };
}
