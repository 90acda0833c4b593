/** Finds and runs third-party programs. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const SPEECH = fileURLToPath(new URL('../../fixtures/audio/speech.wav', import.meta.url));

/** Whether one of the programs is missing. Logs the names once, to explain a skipped suite. */
export function missing(...programs: readonly string[]): boolean {
  const absent = programs.filter(
    (program) =>
      !(process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, program))),
  );
  if (absent.length > 0) console.log(`skipped: ${absent.join(', ')} not installed`);
  return absent.length > 0;
}

/** Creates a folder for one suite with the speech fixture as raw PCMU. */
export function workFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'carillon-interop-'));
  const made = spawnSync('sox', [
    SPEECH,
    ...['-t', 'ul', '-r', '8000', '-c', '1'],
    join(path, 'speech.ulaw'),
  ]);
  if (made.status !== 0) throw new Error(`sox: ${made.stderr}`);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export interface SippOptions {
  readonly folder: string;
  readonly scenario: string;
  /** Destination port of requests. Absent for a server scenario. */
  readonly target?: number;
  readonly localAddress?: string;
  readonly localPort?: number;
  readonly mediaPort?: number;
  readonly calls: number;
  /** Maximum number of simultaneous calls. Default: all. */
  readonly limit?: number;
  /** New calls per second. Default: all immediately. */
  readonly rate?: number;
  readonly pauseMs?: number;
  readonly service?: string;
  readonly user?: { readonly username: string; readonly password: string };
  /** Status that a refusing scenario sends, because SIPp keywords cannot set it. */
  readonly status?: string;
  /** Replacement text for the scenario, by its bracketed placeholder. */
  readonly put?: Readonly<Record<string, string>>;
  /** Time limit for SIPp, seconds. */
  readonly limitS?: number;
  readonly transport?: 'u1' | 't1' | 'tn';
  readonly more?: readonly string[];
}

export interface SippRun {
  readonly child: ChildProcess;
  /** Exit status: 0 if every call followed its scenario. `report` describes deviations. */
  readonly done: Promise<{ readonly status: number | null; readonly report: string }>;
  stop(): void;
}

const SIPP_LIMIT_S = 75;

export function startSipp(options: SippOptions): SippRun {
  const { calls, target, localAddress = '127.0.0.1' } = options;
  const errors = `${options.scenario}-${localAddress}-${options.localPort ?? 0}.log`;
  const args = [
    ...(target === undefined ? [] : [`127.0.0.1:${target}`]),
    ...['-sf', scenarioFile(options)],
    ...['-i', localAddress, '-mi', localAddress],
    ...(options.localPort === undefined ? [] : ['-p', String(options.localPort)]),
    ...(options.mediaPort === undefined ? [] : ['-mp', String(options.mediaPort), '-rtp_echo']),
    ...[
      '-m',
      String(calls),
      '-l',
      String(options.limit ?? calls),
      '-r',
      String(options.rate ?? calls),
    ],
    ...['-s', options.service ?? '1000', '-d', String(options.pauseMs ?? 1000)],
    ...(options.user === undefined
      ? []
      : [
          '-au',
          options.user.username,
          '-ap',
          options.user.password,
          '-key',
          'username',
          options.user.username,
        ]),
    ...[
      '-t',
      options.transport ?? 'u1',
      '-timeout',
      String(options.limitS ?? SIPP_LIMIT_S),
      '-timeout_error',
    ],
    ...['-max_socket', '1000', '-nostdin', '-trace_err', '-error_file', errors],
    ...(options.more ?? []),
  ];
  const child = spawn('sipp', args, { cwd: options.folder, stdio: ['ignore', 'pipe', 'pipe'] });
  if (target === undefined && options.localPort !== undefined)
    waitUntilBound(localAddress, options.localPort);
  let screen = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      screen = (screen + text).slice(-8000);
    });
  }
  const done = once(child, 'close').then(([status]) => ({
    status: status as number | null,
    report:
      spawnSync('tail', ['-c', '3000', join(options.folder, errors)], { encoding: 'utf8' }).stdout +
      screen,
  }));
  return { child, done, stop: () => child.kill('SIGKILL') };
}

const BOUND_LIMIT_MS = 5000;

/** Blocks until a socket is bound to the address: a call before it gets an ICMP error. */
function waitUntilBound(address: string, port: number): void {
  const hex = address
    .split('.')
    .reverse()
    .map((part) => Number(part).toString(16).padStart(2, '0'))
    .join('');
  const place = `${hex}:${port.toString(16).padStart(4, '0')}`.toUpperCase();
  const untilMs = performance.now() + BOUND_LIMIT_MS;
  while (performance.now() < untilMs) {
    const tables = ['udp', 'tcp'].map((name) => readFileSync(`/proc/net/${name}`, 'utf8'));
    if (tables.some((table) => table.includes(place))) return;
  }
}

let copies = 0;

function scenarioFile({ folder, scenario, status, put = {} }: SippOptions): string {
  const file = join(FOLDER, 'sipp', `${scenario}.xml`);
  const texts = { ...put, ...(status === undefined ? {} : { status }) };
  if (Object.keys(texts).length === 0) return file;
  copies += 1;
  const copy = join(folder, `${scenario}-${copies}.xml`);
  let text = readFileSync(file, 'utf8');
  for (const [name, value] of Object.entries(texts))
    text = text.replaceAll(`[${name}]`, () => value);
  writeFileSync(copy, text);
  return copy;
}

/** Runs a scenario that calls the service. Throws with SIPp's report if it fails. */
export async function sipp(options: SippOptions): Promise<void> {
  const { status, report } = await startSipp(options).done;
  if (status !== 0) throw new Error(`SIPp ended with ${status}:\n${report}`);
}
