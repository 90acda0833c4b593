// Checks the length and the nesting of functions with the parser of oxc.
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const FOLDERS = ['src', 'web', 'bench', 'scripts', 'packages', 'bin', 'examples'];
const MAX_LINES = 60;
const MAX_NESTING = 6;

const FUNCTION = /^(ArrowFunctionExpression|FunctionExpression|FunctionDeclaration)$/;
const BLOCK =
  /^(If|For|ForOf|ForIn|While|DoWhile|Switch|Try)Statement$|^(ArrowFunction|Function)Expression$|^FunctionDeclaration$/;

/** Returns the findings of all files. */
export async function functionSizes() {
  const { parseSync } = await import('oxc-parser');
  const findings = [];
  for (const file of await sources()) {
    const text = readFileSync(join(root, file), 'utf8');
    for (const { line, lines, nesting } of functionsOf(parseSync(file, text).program, text)) {
      if (nesting > MAX_NESTING) findings.push(`${file}:${line} is nested ${nesting} deep`);
      if (lines > MAX_LINES) findings.push(`${file}:${line} has ${lines} lines`);
    }
  }
  return { ok: findings.length === 0, output: findings.join('\n') };
}

async function sources() {
  const found = [];
  for (const folder of FOLDERS)
    for (const file of await readdir(join(root, folder), { recursive: true }))
      if (/\.(ts|tsx|mjs)$/.test(file) && !file.endsWith('.d.ts')) found.push(`${folder}/${file}`);
  return found.filter((file) => !file.includes('node_modules'));
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
