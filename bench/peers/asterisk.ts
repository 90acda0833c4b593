/** Asterisk with PJSIP: one endpoint for all callers on loopback and one as the destination of all calls. `cdr_csv` writes a record of each call. */
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { CORE, end, programOf, type RunningPeer } from './peer.ts';

const HOST = '127.0.0.1';
const START_MS = 20_000;

export interface AsteriskOptions {
  readonly program: string;
  readonly folder: string;
  readonly sipPort: number;
  /** Its names for codecs: `ulaw`, `alaw`, … */
  readonly callerCodec: string;
  readonly callee: { readonly port: number; readonly codec: string };
  /** Destination of each call in the syntax of `Dial`; default: the callee. */
  readonly dial?: string;
  /** URL for `WebSocket/bot`. */
  readonly botUrl?: string;
}

export interface RunningAsterisk extends RunningPeer {
  callRecords(): number;
}

export const asteriskProgram = (): string | undefined => programOf('asterisk', 'BENCH_ASTERISK');

const endpoint = (name: string, codec: string, port: number): string => `
[${name}]
type=endpoint
transport=udp
context=bench
disallow=all
allow=${codec}
aors=${name}
direct_media=no
[${name}]
type=aor
contact=sip:${name}@${HOST}:${port}
`;

function configuration(folder: string, options: AsteriskOptions): Readonly<Record<string, string>> {
  const { sipPort, callerCodec, callee, dial = 'PJSIP/callee', botUrl } = options;
  const own = ['varlib', 'db', 'key', 'spool', 'run', 'log'];
  const bot = `[bot]\ntype=websocket_client\nconnection_type=per_call_config\nuri=${botUrl}\nprotocols=media\n`;
  return {
    'asterisk.conf': `[directories]\nastetcdir=${folder}\n${own.map((name) => `ast${name}dir=${folder}/${name}\n`).join('')}`,
    'modules.conf': '[modules]\nautoload=yes\n',
    'logger.conf': '[general]\n[logfiles]\nmessages => error,warning\n',
    'cdr.conf': '[general]\nenable=yes\n[csv]\nusegmtime=yes\n',
    'rtp.conf': '[general]\nrtpstart=10000\nrtpend=59999\nstrictrtp=no\nicesupport=no\n',
    'pjsip.conf': `[udp]
type=transport
protocol=udp
bind=${HOST}:${sipPort}
${endpoint('caller', callerCodec, 16_060)}
[anybody]
type=identify
endpoint=caller
match=${HOST}
${endpoint('callee', callee.codec, callee.port)}`,
    'extensions.conf': `[bench]\nexten => _X.,1,Dial(${dial})\n`,
    'websocket_client.conf': botUrl === undefined ? '' : bot,
    // Without separate configuration files, these modules log errors or do unneeded work.
    'cel.conf': '[general]\nenable=no\n',
    'http.conf': '[general]\nenabled=no\n',
    'manager.conf': '[general]\nenabled=no\n',
  };
}

export async function startAsterisk(options: AsteriskOptions): Promise<RunningAsterisk> {
  const folder = mkdtempSync(join(options.folder, 'asterisk-'));
  for (const name of ['varlib', 'db', 'key', 'spool', 'run', 'log', 'log/cdr-csv'])
    mkdirSync(join(folder, name));
  for (const [name, text] of Object.entries(configuration(folder, options)))
    writeFileSync(join(folder, name), text);
  const config = join(folder, 'asterisk.conf');
  const command = [options.program, '-f', '-C', config];
  const child = spawn('taskset', ['-c', String(CORE), ...command], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const stop = (): Promise<void> => end(child);
  for (const untilMs = performance.now() + START_MS; ; await pause(100)) {
    const requested = promisify(execFile)(options.program, [
      '-C',
      config,
      '-rx',
      'core waitfullybooted',
    ]);
    const isUp = await requested.then(
      () => true,
      () => false,
    );
    if (isUp) break;
    if (child.exitCode === null && performance.now() < untilMs) continue;
    await stop();
    throw new Error('Asterisk does not start');
  }
  const records = join(folder, 'log/cdr-csv/Master.csv');
  return {
    pid: child.pid ?? 0,
    stop,
    callRecords: () =>
      existsSync(records) ? readFileSync(records, 'utf8').split('\n').length - 1 : 0,
  };
}
