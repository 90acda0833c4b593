/** Reads a settings file (JSON or YAML 1.2) with the position of every value, so that errors can name the line. */
import { isUtf8 } from 'node:buffer';
import { readFileSync, statSync } from 'node:fs';
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  type Node,
  parseDocument,
  visit,
  type YAMLError,
  type YAMLMap,
} from 'yaml';

export type Tree = { [key: string]: unknown };

export interface Source {
  readonly tree: Tree;
  /** Returns the position of the value at `path` as `settings.yaml:12`, or only the name if unknown. */
  place(path: readonly string[]): string;
}

/** Reads a file of at most `maxBytes`. Returns an error text if it fails. */
export function readSource(file: string, maxBytes = Number.POSITIVE_INFINITY): Source | string {
  let bytes: Buffer;
  try {
    const { size } = statSync(file);
    if (size > maxBytes) return `cannot read ${file}: has ${size} bytes, at most ${maxBytes}`;
    bytes = readFileSync(file);
  } catch (error) {
    return `cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`;
  }
  if (!isUtf8(bytes)) return `cannot read ${file}:${invalidLine(bytes)}: is not UTF-8`;
  return parseSource(bytes.toString('utf8'), file);
}

/** Number of the first line that is not UTF-8. */
function invalidLine(bytes: Buffer): number {
  for (let line = 1, from = 0; ; line += 1) {
    const end = bytes.indexOf('\n', from);
    if (end < 0 || !isUtf8(bytes.subarray(from, end))) return line;
    from = end + 1;
  }
}

/** Parses `text`. Error texts use `name`. Returns an error text if it fails. */
export function parseSource(text: string, name: string): Source | string {
  const deep = deepLine(text);
  if (deep !== undefined) return `cannot read ${name}:${deep}: is nested too deeply`;
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    // Both take quadratic time: a text of 64 KiB would block the process for seconds.
    prettyErrors: false,
    uniqueKeys: false,
  });
  const lineOf = (offset: number | undefined): string =>
    offset === undefined ? name : `${name}:${lines.linePos(offset).line}`;
  const [fault] = [...document.errors, ...document.warnings];
  if (fault !== undefined) return `cannot read ${lineOf(fault.pos[0])}: ${wordsOf(fault)}`;
  const wrong = wrongNode(document);
  if (wrong !== undefined) return `cannot read ${lineOf(wrong.node.range?.[0])}: ${wrong.why}`;
  const tree = treeOf(document);
  if (tree === undefined) return `cannot read ${name}: an alias contains itself or too many others`;
  if (tree === null) return { tree: {}, place: () => name };
  if (typeof tree !== 'object' || Array.isArray(tree))
    return `${name} must contain one object with settings by name`;
  return {
    tree: tree as Tree,
    place(path) {
      const node: unknown = document.getIn(path, true);
      return lineOf(isNode(node) ? node.range?.[0] : undefined);
    },
  };
}

/** Maximum number of open brackets. The parser needs seconds for many thousands. */
const MAX_OPEN = 500;

/** Number of the line where too many brackets are open, or undefined. Brackets in texts count too. */
function deepLine(text: string): number | undefined {
  let open = 0;
  let line = 1;
  for (const [character] of text.matchAll(/[[\]{}\n]/g)) {
    if (character === '\n') line += 1;
    else if (character === '[' || character === '{') open += 1;
    else open = Math.max(0, open - 1);
    if (open > MAX_OPEN) return line;
  }
  return undefined;
}

/** Describes a fault of the syntax. */
const wordsOf = ({ code, message }: YAMLError): string =>
  code === 'MULTIPLE_DOCS'
    ? 'contains several documents (---), one is allowed'
    : (message.split('\n', 1)[0] ?? '');

const MAX_ALIASES = 100;

interface WrongNode {
  readonly node: Node;
  readonly why: string;
}

/** Returns the first key that is set twice, or the first alias that is unknown or one too many. */
function wrongNode(document: Document): WrongNode | undefined {
  let wrong: WrongNode | undefined;
  let aliases = 0;
  const anchors = new Set<string>();
  visit(document, (_, node) => {
    if (isAlias(node)) {
      aliases += 1;
      if (!anchors.has(node.source))
        wrong = { node, why: `the alias *${node.source} has no anchor` };
      else if (aliases > MAX_ALIASES) wrong = { node, why: 'too many aliases' };
    } else if (isNode(node) && node.anchor !== undefined) anchors.add(node.anchor);
    if (isMap(node)) wrong ??= repeatedKey(node);
    return wrong && visit.BREAK;
  });
  return wrong;
}

function repeatedKey({ items }: YAMLMap): WrongNode | undefined {
  const names = new Set<unknown>();
  for (const { key } of items) {
    if (!isScalar(key)) continue;
    if (names.has(key.value)) return { node: key, why: `${key.value}: is set twice` };
    names.add(key.value);
  }
  return undefined;
}

/** Converts a document to an object. Returns undefined if aliases make it cyclic or very large. */
function treeOf(document: Document): unknown {
  try {
    const tree: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    JSON.stringify(tree);
    return tree;
  } catch {
    return undefined;
  }
}
