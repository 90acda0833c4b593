/** SIPp at both ends: the caller's and the callee's carrier. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const HOST = '127.0.0.1';
export const CALLEE_PORT = 17_060;
const CALLER_PORT = 17_070;
const MEDIA_PORTS = { caller: 60_100, callee: 60_200 };
/** Added to the first one's. */
const SECOND_PORT = 10;
const PRIORITY = 15;
const SOCKET_BUFFER_BYTES = 8_000_000;
/** Time without a message after which a call has failed. */
const ANSWER_LIMIT_MS = 20_000;
const scenario = (name: string): string =>
  fileURLToPath(new URL(`./sipp/${name}.xml`, import.meta.url));

/** Counters of one end since its start. */
export interface Counted {
  /** Ended as they should, after an answer. */
  readonly completed: number;
  /** 503 with `Retry-After`. */
  readonly refused: number;
  readonly failed: number;
  readonly retransmissions: number;
}

const NOTHING: Counted = { completed: 0, refused: 0, failed: 0, retransmissions: 0 };

function start(name: string, folder: string, args: readonly string[]): ChildProcess {
  const files = ['-trace_stat', '-stf', join(folder, 'stat.csv'), '-fd', '1', '-trace_err'];
  const common = ['-sf', scenario(name), '-i', HOST, '-mi', HOST, '-nostdin', ...files];
  const buffer = ['-buff_size', String(SOCKET_BUFFER_BYTES)];
  const command = ['sipp', ...common, ...buffer, ...args];
  const mayBeUrgent = spawnSync('chrt', ['-f', String(PRIORITY), 'true']).status === 0;
  const [program = '', ...rest] = mayBeUrgent
    ? ['chrt', '-f', String(PRIORITY), ...command]
    : command;
  return spawn(program, rest, {
    cwd: folder,
    stdio: 'ignore',
    env: { ...process.env, TERM: 'xterm' },
  });
}

function counted(folder: string): Counted {
  const file = join(folder, 'stat.csv');
  if (!existsSync(file)) return NOTHING;
  const [head = '', ...lines] = readFileSync(file, 'utf8').trim().split('\n');
  const last = lines.at(-1)?.split(';');
  if (last === undefined) return NOTHING;
  const columns = head.split(';');
  const of = (column: string): number => Number(last[columns.indexOf(column)] ?? 0);
  return {
    completed: of('GenericCounter1(C)'),
    refused: of('GenericCounter2(C)'),
    failed: of('FailedCall(C)'),
    retransmissions: of('Retransmissions(C)'),
  };
}

/** The first of a call, by the clock of this machine. */
export interface Invite {
  readonly callId: string;
  /** User of the Request-URI. */
  readonly user: string;
  readonly atMs: number;
}

/** Every INVITE that one end sent or received, without retransmissions; needs `trace`. */
function invites(folder: string): readonly Invite[] {
  const file = readdirSync(folder).find((name) => name.endsWith('_shortmessages.log'));
  if (file === undefined) return [];
  const found = new Map<string, Invite>();
  for (const line of readFileSync(join(folder, file), 'utf8').split('\n')) {
    const [, , seconds, , callId = '', , first = ''] = line.split('\t');
    const user = /^INVITE sip:([^@]*)@/.exec(first)?.[1];
    if (user === undefined || found.has(callId)) continue;
    found.set(callId, { callId, user, atMs: Number(seconds) * 1000 });
  }
  return [...found.values()];
}

const traced = (isTraced: boolean): readonly string[] => (isTraced ? ['-trace_shortmsg'] : []);

/** Answers until it is stopped. */
export class Callee {
  readonly #folder: string;
  readonly #child: ChildProcess;

  private constructor(folder: string, child: ChildProcess) {
    this.#folder = folder;
    this.#child = child;
  }

  static async start(folder: string, trace = false): Promise<Callee> {
    const own = mkdtempSync(join(folder, 'callee-'));
    const ports = ['-p', String(CALLEE_PORT), '-mp', String(MEDIA_PORTS.callee)];
    const child = start('callee', own, [...ports, ...traced(trace)]);
    for (let waitedMs = 0; !existsSync(join(own, 'stat.csv')); waitedMs += 50) {
      if (child.exitCode !== null || waitedMs > 5000) throw new Error('SIPp does not start');
      await pause(50);
    }
    return new Callee(own, child);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  counted(): Counted {
    return counted(this.#folder);
  }

  invites(): readonly Invite[] {
    return invites(this.#folder);
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }
}

export interface CallerOptions {
  readonly folder: string;
  /** Port of the measured server. */
  readonly port: number;
  readonly number: string;
  readonly rate: number;
  readonly calls: number;
  readonly holdMs: number;
  /** Runs in addition to another caller. */
  readonly isSecond?: boolean;
  readonly trace?: boolean;
}

export interface CallerRun extends Counted {
  readonly wallMs: number;
  readonly invites: readonly Invite[];
  /** The first things that SIPp complained about. */
  readonly complaints: string;
}

/** Places its calls and waits for the end of the last. */
export async function placeCalls(options: CallerOptions): Promise<CallerRun> {
  const folder = mkdtempSync(join(options.folder, 'caller-'));
  const callers = join(folder, 'callers.csv');
  writeFileSync(callers, 'SEQUENTIAL,PRINTF=9000000\n1415%07d\n');
  const startedMs = performance.now();
  const second = options.isSecond === true ? SECOND_PORT : 0;
  const child = start('caller', folder, [
    `${HOST}:${options.port}`,
    ...['-s', options.number, '-inf', callers],
    ...['-p', String(CALLER_PORT + second), '-mp', String(MEDIA_PORTS.caller + second)],
    ...['-r', String(options.rate), '-m', String(options.calls), '-l', String(options.calls)],
    ...['-d', String(options.holdMs), '-recv_timeout', String(ANSWER_LIMIT_MS)],
    ...traced(options.trace === true),
    ...['-timeout', String(Math.ceil(options.calls / options.rate + options.holdMs / 1000 + 40))],
  ]);
  await once(child, 'exit');
  const wallMs = performance.now() - startedMs;
  const log = readdirSync(folder).find((file) => file.endsWith('_errors.log'));
  const complaints = log === undefined ? '' : readFileSync(join(folder, log), 'utf8').slice(0, 600);
  return { ...counted(folder), wallMs, invites: invites(folder), complaints };
}
