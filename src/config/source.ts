/** Reads a settings file (JSON or YAML 1.2) with the position of every value, so that errors can name the line. */
import { readFileSync } from 'node:fs';
import { isNode, LineCounter, parseDocument } from 'yaml';

export type Tree = { [key: string]: unknown };

export interface Source {
  readonly tree: Tree;
  /** Returns the position of the value at `path` as `settings.yaml:12`, or only the name if unknown. */
  place(path: readonly string[]): string;
}

/** Reads a file. Returns an error text if it fails. */
export function readSource(file: string): Source | string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    return `cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`;
  }
  return parseSource(text, file);
}

/** Parses `text`. Error texts use `name`. Returns an error text if it fails. */
export function parseSource(text: string, name: string): Source | string {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: true });
  const [fault] = [...document.errors, ...document.warnings];
  if (fault !== undefined) return `cannot read ${name}: ${firstLine(fault.message)}`;
  let tree: unknown;
  try {
    tree = document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    // Too many aliases, or one that is not defined.
    return `cannot read ${name}: ${error instanceof Error ? error.message : String(error)}`;
  }
  if (tree === null) return { tree: {}, place: () => name };
  if (typeof tree !== 'object' || Array.isArray(tree))
    return `${name} must contain one object with settings by name`;
  return {
    tree: tree as Tree,
    place(path) {
      const node: unknown = document.getIn(path, true);
      const at = isNode(node) ? node.range?.[0] : undefined;
      return at === undefined ? name : `${name}:${lines.linePos(at).line}`;
    },
  };
}

const firstLine = (text: string): string => text.split('\n', 1)[0]?.replace(/:$/, '') ?? '';
