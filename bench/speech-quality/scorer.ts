/** A perceptual model that the user brings: a command that is given two WAV files and prints how alike they sound. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Sound, writeWav } from '../../src/phone/audio/wav.ts';

const LONGEST_MS = 60_000;
const MOST_BYTES = 1024 * 1024;

/** The last number that the command prints, when it is given the paths of reference and degraded. Rejects with why there is none. */
export async function score(
  command: string,
  reference: Sound,
  degraded: Sound,
  longestMs = LONGEST_MS,
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-hearing-'));
  try {
    const files = [reference, degraded].map((sound, i) => {
      const file = join(folder, i === 0 ? 'reference.wav' : 'degraded.wav');
      writeFileSync(file, writeWav(sound));
      return file;
    });
    const printed = await output(command, files, longestMs);
    const last = printed.match(/-?\d+(?:\.\d+)?/g)?.at(-1);
    if (last === undefined) throw new Error(`the scorer ${command} printed no number`);
    return Number(last);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function output(command: string, files: readonly string[], longestMs: number): Promise<string> {
  const words = ['-c', `exec ${command} "$@"`, 'scorer', ...files];
  const limits = { timeout: longestMs, maxBuffer: MOST_BYTES, killSignal: 'SIGKILL' as const };
  return new Promise((resolve, reject) => {
    execFile('sh', words, limits, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      const why = error.killed === true ? `took more than ${longestMs} ms` : `failed`;
      const said = stderr.trim().split('\n').at(-1) ?? '';
      reject(new Error(`the scorer ${command} ${why}${said === '' ? '' : `: ${said}`}`));
    });
  });
}
