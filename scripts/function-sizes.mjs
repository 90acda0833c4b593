// Checks the length and the nesting of functions with the parser of oxc.
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const FOLDERS = ['src', 'bench', 'scripts', 'packages', 'bin', 'examples'];
const MAX_LINES = 60;
const MAX_NESTING = 6;
/** Functions above the limit: their lines may only become fewer. */
const LONG = {
  'bench/media.ts': 81,
  'bench/rest.ts': 63,
  'bench/scale/service.ts': 95,
  'bench/webrtc.ts': 70,
  'src/cli/commands/accounts.ts': 70,
  'src/cli/commands/campaign-parts.ts': 63,
  'src/cli/commands/users.ts': 63,
  'src/compose.ts': 111,
  'src/config/combinations.ts': 78,
  'src/domain/call/end-cause.ts': 69,
  'src/domain/callback/exchange.ts': 63,
  'src/edge/media/events.ts': 84,
  'src/edge/metrics/media-metrics.ts': 61,
  'src/edge/metrics/metrics.ts': 71,
  'src/edge/metrics/signalling-metrics.ts': 88,
  'src/edge/objects/s3.ts': 63,
  'src/edge/rest/http/mount.ts': 62,
  'src/edge/rest/routes/provisioning/trunk-part.ts': 61,
  'src/edge/rest/server.ts': 83,
  'src/edge/store/postgres/open.ts': 75,
  'src/edge/store/sql/campaign-lists.ts': 79,
  'src/edge/store/sql/cdr-search.ts': 73,
  'src/edge/store/sql/cdrs.ts': 65,
  'src/edge/store/sql/numbers.ts': 73,
  'src/edge/store/sql/users.ts': 68,
  'src/edge/store/store.ts': 84,
  'src/phone/phone-call.ts': 67,
  'src/protocol/answer-xml/element/multi-party.ts': 72,
  'src/service/join/calls.ts': 185,
  'src/service/join/lines.ts': 125,
  'src/service/join/monitoring.ts': 68,
  'src/service/operations.ts': 63,
};

const FUNCTION = /^(ArrowFunctionExpression|FunctionExpression|FunctionDeclaration)$/;
const BLOCK =
  /^(If|For|ForOf|ForIn|While|DoWhile|Switch|Try)Statement$|^(ArrowFunction|Function)Expression$|^FunctionDeclaration$/;

/** Returns the findings of all files. */
export async function functionSizes() {
  const { parseSync } = await import('oxc-parser');
  const findings = [];
  const used = new Set();
  for (const file of await sources()) {
    const text = readFileSync(join(root, file), 'utf8');
    for (const { line, lines, nesting } of functionsOf(parseSync(file, text).program, text)) {
      if (nesting > MAX_NESTING) findings.push(`${file}:${line} is nested ${nesting} deep`);
      if (lines <= MAX_LINES) continue;
      used.add(file);
      if (lines > (LONG[file] ?? MAX_LINES)) findings.push(`${file}:${line} has ${lines} lines`);
    }
  }
  for (const file of Object.keys(LONG))
    if (!used.has(file)) findings.push(`${file} needs no exception any more`);
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
