import { type ChildProcess, spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { err, ok, type Result } from '../../base/result.ts';

interface ProcessProblem {
  /** `absent`: no file of this name in the system's folders can be executed. */
  readonly kind: 'absent' | 'failed' | 'timeout';
  readonly detail: string;
}

/** Runs a program: passes arguments without a shell, writes text to stdin, and returns the output. Never rejects. */
export type RunProcess = (
  command: string,
  args: readonly string[],
  input: string,
) => Promise<Result<Uint8Array, ProcessProblem>>;

export interface ProcessLimits {
  readonly timeLimitMs: number;
  readonly maxOutputBytes: number;
}

/** Folders in which system packages install programs. */
export const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin';
/** Maximum length of the error output kept for the log. */
const MAX_ERROR_CHARS = 500;

export function processRunner(limits: ProcessLimits): RunProcess {
  return (command, args, input) => {
    const { promise, resolve } = Promise.withResolvers<Result<Uint8Array, ProcessProblem>>();
    const child: ChildProcess = spawn(command, args, {
      stdio: 'pipe',
      // Hides the service's environment variables, which may hold secrets.
      env: { PATH: SYSTEM_PATH, LANG: 'C.UTF-8' },
    });
    // The option `timeout` of spawn keeps its timer if the program cannot be started.
    const timer = setTimeout(() => child.kill('SIGKILL'), limits.timeLimitMs);
    child.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      const isAbsent = error.code === 'ENOENT' || error.code === 'EACCES';
      resolve(err({ kind: isAbsent ? 'absent' : 'failed', detail: error.message }));
    });
    lowerPriority(child.pid);
    const output: Uint8Array[] = [];
    let size = 0;
    let complaint = '';
    // Without free file descriptors, the child has no streams and only reports an error.
    child.stdout?.on('data', (chunk: Uint8Array) => {
      size += chunk.length;
      if (size > limits.maxOutputBytes) child.kill('SIGKILL');
      else output.push(chunk);
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      if (complaint.length < MAX_ERROR_CHARS) complaint += chunk.toString('utf8');
    });
    // The exit status decides about a program that ends before it has read all input.
    child.stdin?.on('error', () => undefined);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      if (code === 0) resolve(ok(Buffer.concat(output)));
      else resolve(err(ending(command, code, signal, complaint)));
    });
    child.stdin?.end(input);
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
    return { kind: 'timeout', detail: `${command} timed out or produced too much output` };
  const words = complaint.slice(0, MAX_ERROR_CHARS).trim();
  return { kind: 'failed', detail: `${command} ended with ${signal ?? code}: ${words}` };
}

function lowerPriority(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The process has ended, or the change is not permitted. It then keeps its priority.
  }
}
