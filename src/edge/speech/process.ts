import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { err, ok, type Result } from '../../base/result.ts';

interface ProcessProblem {
  readonly kind: 'absent' | 'failed' | 'timeout';
  readonly detail: string;
}

/** Runs a program to its end: arguments as they are (no shell), text to its standard input, bytes of its output. Never rejects. */
export type RunProcess = (
  command: string,
  args: readonly string[],
  input: string,
) => Promise<Result<Uint8Array, ProcessProblem>>;

export interface ProcessLimits {
  readonly timeLimitMs: number;
  readonly maxOutputBytes: number;
}

/** Where system packages put programs. */
const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin';
/** What is kept of the error output, for the log. */
const MAX_ERROR_CHARS = 500;

export function processRunner(limits: ProcessLimits): RunProcess {
  return (command, args, input) => {
    const { promise, resolve } = Promise.withResolvers<Result<Uint8Array, ProcessProblem>>();
    const child = spawn(command, args, {
      stdio: 'pipe',
      timeout: limits.timeLimitMs,
      killSignal: 'SIGKILL',
      // None of the variables of the service are passed on: they may hold secrets.
      env: { PATH: SYSTEM_PATH, LANG: 'C.UTF-8' },
    });
    lowerPriority(child.pid);
    const output: Uint8Array[] = [];
    let size = 0;
    let complaint = '';
    child.stdout.on('data', (chunk: Uint8Array) => {
      size += chunk.length;
      if (size > limits.maxOutputBytes) child.kill('SIGKILL');
      else output.push(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      if (complaint.length < MAX_ERROR_CHARS) complaint += chunk.toString('utf8');
    });
    // A program that ends before it has read everything is judged by its exit.
    child.stdin.on('error', () => undefined);
    child.on('error', (error: NodeJS.ErrnoException) => {
      resolve(err({ kind: error.code === 'ENOENT' ? 'absent' : 'failed', detail: error.message }));
    });
    child.on('close', (code, signal) => {
      if (code === 0) resolve(ok(Buffer.concat(output)));
      else resolve(err(ending(command, code, signal, complaint)));
    });
    child.stdin.end(input);
    return promise;
  };
}

function ending(
  command: string,
  code: number | null,
  signal: NodeJS.Signals | null,
  complaint: string,
): ProcessProblem {
  if (signal === 'SIGKILL')
    return { kind: 'timeout', detail: `${command} took too long or gave too much` };
  const words = complaint.slice(0, MAX_ERROR_CHARS).trim();
  return { kind: 'failed', detail: `${command} ended with ${signal ?? code}: ${words}` };
}

function lowerPriority(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Already over, or not permitted: then at the same priority.
  }
}
