/**
 * Writes web/console/strings.json: every visible text of the console, for translation. The texts are the arguments of `t()`.
 * A test fails if the file is not current.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../web/console');
const file = join(folder, 'strings.json');

const CALL = /\bt\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`((?:[^`\\$]|\\.)*)`)/g;

/** Returns the catalog as JSON: each text as the key, and itself as the value to translate. */
export function catalog(): string {
  const texts = new Set<string>();
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!/\.tsx?$/.test(name)) continue;
    for (const [, single, double, back] of readFileSync(join(folder, name), 'utf8').matchAll(
      CALL,
    )) {
      texts.add((single ?? double ?? back ?? '').replaceAll(/\\(.)/g, '$1'));
    }
  }
  const sorted = [...texts].sort((a, b) => a.localeCompare(b, 'en'));
  return `${JSON.stringify(Object.fromEntries(sorted.map((text) => [text, text])), null, 2)}\n`;
}

if (import.meta.main) writeFileSync(file, catalog());
