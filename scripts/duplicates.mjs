// Counts pairs of places in src and native with ten or more lines of the same shape: equal except for names, strings
// and numbers.
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const FOLDERS = ['src', 'native'];
const SOURCE = /\.(ts|mjs|[ch]pp|sql)$/;
const RUN_LINES = 10;
/** Maximum number of pairs. Each is a place where the shape is the same, but the content differs. */
const MAX_PAIRS = 20;
/** A shape in more places than this is a form of the language, such as a list of parameters. */
const MAX_PLACES = 8;
/** Minimum number of statements. A run with fewer is a plain list. */
const MIN_STATEMENTS = 2;
const STATEMENT_TOKENS = 8;
/** Minimum average number of tokens per line. */
const MIN_TOKENS = 4;

const COMMENT = /^(\/\/|--|\/?\*(?!\/))/;
const INCLUDE = /^#\s*include\b/;
/** Imports of one or more lines. */
const IMPORTS = /^(import|export (type )?\{)[^;]*? from '[^']*';$/gm;
/** A property with a simple value, as in a table. */
const ENTRY = /^\w+: [\w.'"]+(\([\w.,:'" ]*\))?,?$/;
const TOKEN = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[A-Za-z_]\w*|\d[\w.]*|\S/g;
const STATEMENT =
  /^(if|for|while|return|const|let|else|try|catch|with|throw|yield|await|do|break|continue|goto)\b/;

/** Returns the findings if there are too many. The check must see a planted pair. */
export async function duplicates() {
  const lines = Array.from({ length: RUN_LINES }, (_, at) => `if (a) call(b, ${at}, '${at}');`);
  const planted = lines.join('\n');
  const found = pairsOf([
    ['a', planted],
    ['b', planted.replaceAll('call', 'other')],
    ['c', lines.slice(1).join('\n')],
  ]);
  if (found.length !== 1) return { ok: false, output: `${found.length} of 1 planted pair found` };
  const pairs = pairsOf(await sources());
  const ok = pairs.length <= MAX_PAIRS;
  const text = pairs.map(([a, b]) => `${a} ~ ${b}`);
  return {
    ok,
    output: ok ? '' : [`${pairs.length} pairs, at most ${MAX_PAIRS}`, ...text].join('\n'),
  };
}

async function sources() {
  const found = [];
  for (const folder of FOLDERS)
    for (const file of (await readdir(join(root, folder), { recursive: true })).sort())
      if (SOURCE.test(file) && !file.includes('node_modules')) found.push(`${folder}/${file}`);
  return found.map((file) => [file, readFileSync(join(root, file), 'utf8')]);
}

/** Lines with content: their number, shape and whether they are a statement. */
function linesOf(text) {
  const withoutImports = text.replace(IMPORTS, (lines) => lines.replace(/[^\n]/g, ''));
  return withoutImports.split('\n').flatMap((raw, index) => {
    const line = raw.trim();
    if (!/\w/.test(line) || COMMENT.test(line) || INCLUDE.test(line)) return [];
    const tokens = line.match(TOKEN) ?? [];
    const isLong = tokens.length >= STATEMENT_TOKENS;
    const isStatement = !ENTRY.test(line) && (STATEMENT.test(line) || / = /.test(line) || isLong);
    const shape = tokens.map(shapeOf).join(' ');
    return [{ number: index + 1, shape, tokens: tokens.length, isStatement }];
  });
}

const shapeOf = (token) =>
  /^["']/.test(token) ? 's' : /^[A-Za-z_]/.test(token) ? 'x' : /^\d/.test(token) ? '0' : token;

/** True if the run has hardly any content besides its form. */
const isPlainList = (run) =>
  run.filter(({ isStatement }) => isStatement).length < MIN_STATEMENTS ||
  run.reduce((sum, { tokens }) => sum + tokens, 0) < MIN_TOKENS * RUN_LINES;

/** Pairs of files, or places of one file, with their longest common run. */
function pairsOf(files) {
  const places = new Map();
  for (const [file, text] of files) {
    const lines = linesOf(text);
    for (let at = 0; at + RUN_LINES <= lines.length; at += 1) {
      const run = lines.slice(at, at + RUN_LINES);
      if (isPlainList(run)) continue;
      const key = run.map(({ shape }) => shape).join('\n');
      const place = { file, from: run[0].number, to: run.at(-1).number };
      places.set(key, [...(places.get(key) ?? []), place]);
    }
  }
  const pairs = new Map();
  for (const same of places.values()) {
    if (same.length < 2 || same.length > MAX_PLACES) continue;
    for (const [index, a] of same.entries())
      for (const b of same.slice(index + 1)) {
        if (a.file === b.file && b.from <= a.to) continue;
        const name = `${a.file} ${b.file}`;
        if (!pairs.has(name)) pairs.set(name, [a, b]);
      }
  }
  return [...pairs.values()].map(([a, b]) => [`${a.file}:${a.from}`, `${b.file}:${b.from}`]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const pairs = pairsOf(await sources());
  for (const [a, b] of pairs) console.log(`${a} ~ ${b}`);
  console.log(`${pairs.length} pairs, at most ${MAX_PAIRS}`);
}
