// Checks the length and the nesting of functions: JavaScript and TypeScript with the parser of oxc, C++ by its braces.
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nativeFunctionsOf } from './native-function-sizes.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const FOLDERS = ['src', 'web', 'bench', 'scripts', 'packages', 'bin', 'examples', 'native'];
const MAX_LINES = 60;
const MAX_NESTING = 6;

const FUNCTION = /^(ArrowFunctionExpression|FunctionExpression|FunctionDeclaration)$/;
const BLOCK =
  /^(If|For|ForOf|ForIn|While|DoWhile|Switch|Try)Statement$|^(ArrowFunction|Function)Expression$|^FunctionDeclaration$/;

const long = (head, lines) => `${head} {\n${'  a(1);\n'.repeat(lines - 2)}}\n`;
const nested = (head, depth) => `${head} {${'if (a) {'.repeat(depth)}${'}'.repeat(depth)}}`;
/** Functions at and above the limits: file, text and number of findings. */
const PLANTED = [
  ...['function f()', 'const f = () =>', 'const f = function ()'].flatMap((head) => [
    ['a.ts', long(head, MAX_LINES), 0],
    ['a.ts', long(head, MAX_LINES + 1), 1],
  ]),
  ...['int f(int a)', 'A::A(int a) : a_(a)', 'auto A::f() const -> B'].flatMap((head) => [
    ['a.cpp', long(head, MAX_LINES), 0],
    ['a.cpp', long(head, MAX_LINES + 1), 1],
    ['a.cpp', `namespace a {\n${long(head, MAX_LINES + 1)}}\n`, 1],
  ]),
  ['a.hpp', `struct A {\n${long('void f(int a)', MAX_LINES + 1)}};`, 1],
  ['a.hpp', long('struct A', 2 * MAX_LINES), 0],
  ['a.hpp', `void f() { b([&] ${long('', MAX_LINES + 1)}); }`, 2],
  ['a.ts', nested('function f()', MAX_NESTING - 1), 0],
  ['a.ts', nested('function f()', MAX_NESTING), 1],
  ['a.cpp', nested('void f()', MAX_NESTING - 1), 0],
  ['a.cpp', nested('void f()', MAX_NESTING), 1],
];

/** Returns the findings of all files. The check must see planted functions of both languages. */
export async function functionSizes() {
  const { parseSync } = await import('oxc-parser');
  const findingsOf = (file, text) =>
    (/pp$/.test(file)
      ? nativeFunctionsOf(text, { maxLines: MAX_LINES, maxNesting: MAX_NESTING })
      : functionsOf(parseSync(file, text).program, text)
    ).flatMap(({ line, lines, nesting }) => [
      ...(nesting > MAX_NESTING ? [`${file}:${line} is nested ${nesting} deep`] : []),
      ...(lines > MAX_LINES ? [`${file}:${line} has ${lines} lines`] : []),
    ]);
  const missed = PLANTED.filter(([file, text, count]) => findingsOf(file, text).length !== count);
  if (missed.length > 0)
    return {
      ok: false,
      output: missed.map(([, text]) => `not seen: ${text.slice(0, 80)}`).join('\n'),
    };
  const findings = (await sources()).flatMap((file) =>
    findingsOf(file, readFileSync(join(root, file), 'utf8')),
  );
  return { ok: findings.length === 0, output: findings.join('\n') };
}

async function sources() {
  const found = [];
  for (const folder of FOLDERS)
    for (const file of await readdir(join(root, folder), { recursive: true }))
      if (/\.(ts|tsx|mjs|[ch]pp)$/.test(file) && !file.endsWith('.d.ts'))
        found.push(`${folder}/${file}`);
  return found.filter((file) => !/node_modules|^native\/test\//.test(file));
}

/** Functions with their lines, and blocks with their depth, of one file. */
function functionsOf(program, text) {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  const lineOf = (offset) => starts.findLastIndex((start) => start <= offset) + 1;
  const found = [];
  const walk = (node, depth) => {
    if (node === null || typeof node !== 'object') return;
    const type = typeof node.type === 'string' ? node.type : '';
    const nesting = BLOCK.test(type) ? depth + 1 : depth;
    if (nesting > depth) {
      const line = lineOf(node.start);
      const lines = FUNCTION.test(type) ? lineOf(node.end - 1) - line + 1 : 0;
      // Deeper blocks of a finding are not reported again.
      if (lines > MAX_LINES || nesting === MAX_NESTING + 1) found.push({ line, lines, nesting });
    }
    for (const [key, value] of Object.entries(node)) {
      const isElseIf = key === 'alternate' && value?.type === 'IfStatement';
      walk(value, isElseIf ? depth : nesting);
    }
  };
  walk(program, 0);
  return found;
}
