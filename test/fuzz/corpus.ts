/** Inputs in fixtures/fuzz: one file per parser, one input per line in hexadecimal digits. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The corpus stays small: at most so many inputs per parser, of at most so many bytes. */
const INPUTS_MAX = 120;
const BYTES_MAX = 1500;

const fileOf = (name: string): string =>
  fileURLToPath(new URL(`../../fixtures/fuzz/${name}.hex`, import.meta.url));

export function readCorpus(name: string): readonly Uint8Array[] {
  if (!existsSync(fileOf(name))) return [];
  const lines = readFileSync(fileOf(name), 'latin1').split('\n');
  return lines.filter((line) => line !== '').map((line) => Buffer.from(line, 'hex'));
}

/** Adds inputs that reached new code. Returns how many were kept. */
export function addToCorpus(name: string, inputs: readonly Uint8Array[]): number {
  const known = readCorpus(name);
  const room = Math.max(0, INPUTS_MAX - known.length);
  const added = inputs
    .filter(({ length }) => length <= BYTES_MAX)
    .sort((a, b) => a.length - b.length)
    .slice(0, room);
  if (added.length === 0) return 0;
  const lines = [...known, ...added].map((input) => Buffer.from(input).toString('hex'));
  writeFileSync(fileOf(name), `${lines.join('\n')}\n`);
  return added.length;
}
