/** Reads YAML or JSON files that users write (agents, rehearsals) and reports every fault with file, line and field. */
import { type Static, type TSchema, Type } from 'typebox';
import { Settings } from 'typebox/system';
import { Value } from 'typebox/value';
import { hinted, hintOf } from '../base/schema-hint.ts';
import { readSource, type Source } from './source.ts';

export interface CheckedFile<T> {
  readonly value: T;
  /** Formats a fault as `agent.yaml:12: model.url: …`. */
  fault(path: readonly string[], what: string): string;
}

/** Faults of an invalid file, one per line of the message. */
export class FileFaults extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

/** Maximum size of a file. Larger ones are other files by mistake, and would take minutes to parse. */
const MAX_FILE_BYTES = 256 * 1024;
/** Maximum number of reported faults per file. */
const MAX_FAULTS = 50;

/**
 * Reads `file`, replaces `${NAME}` in texts by environment variables, applies the defaults of the schema and checks it.
 *
 * @throws FileFaults if the file cannot be read or does not match the schema
 */
export function readCheckedFile<S extends TSchema>(
  file: string,
  schema: S,
  environment: Environment,
): CheckedFile<Static<S>> {
  const source = readSource(file, MAX_FILE_BYTES);
  if (typeof source === 'string') throw new FileFaults([source]);
  const fault = (path: readonly string[], what: string): string => faultAt(source, path, what);
  const checked = checkTree(source.tree, schema, environment);
  const faults = checked.faults.map(({ path, what }) => fault(path, what));
  const different = [...new Set(faults)].sort((a, b) => lineOf(a) - lineOf(b));
  if (different.length > 0) throw new FileFaults(different.slice(0, MAX_FAULTS));
  return { value: checked.value as Static<S>, fault };
}

export interface TreeFault {
  readonly path: readonly string[];
  readonly what: string;
}

/** As `readCheckedFile`, for a value that was not read from a file. `value` matches the schema if there are no faults. */
export function checkTree(
  tree: unknown,
  schema: TSchema,
  environment: Environment,
): { readonly value: unknown; readonly faults: readonly TreeFault[] } {
  const unset: TreeFault[] = [];
  const whole = expanded(tree, environment, (path, name) =>
    unset.push({ path, what: `the environment variable ${name} is not set` }),
  );
  if (unset.length > 0) return { value: undefined, faults: unset };
  const value: unknown = Value.Default(schema, whole);
  const faults = allErrors(schema, value).flatMap((error) => {
    const path = pathOf(error.instancePath);
    return wordsOf(error, hintOf(schema, path)).map(([more, what]) => ({
      path: [...path, ...more],
      what,
    }));
  });
  return { value, faults };
}

/** Returns the errors of the value. The library stops after few of them by default. */
function allErrors(schema: TSchema, value: unknown): ReturnType<typeof Value.Errors> {
  const { maxErrors } = Settings.Get();
  Settings.Set({ maxErrors: MAX_FAULTS });
  try {
    return Value.Errors(schema, value);
  } finally {
    Settings.Set({ maxErrors });
  }
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Replaces `${NAME}` in all texts by environment variables. `missing` gets the path of a variable that is not set. */
function expanded(
  node: unknown,
  environment: Environment,
  missing: (path: readonly string[], name: string) => void,
  path: readonly string[] = [],
): unknown {
  if (typeof node === 'string') {
    return node.replaceAll(/\$\{([A-Z][A-Z0-9_]*)\}/g, (_, name: string) => {
      const value = environment[name];
      if (!value) missing(path, name);
      return value ?? '';
    });
  }
  if (typeof node !== 'object' || node === null) return node;
  if (Array.isArray(node))
    return node.map((one, i) => expanded(one, environment, missing, [...path, String(i)]));
  return Object.fromEntries(
    Object.entries(node).map(([name, one]) => [
      name,
      expanded(one, environment, missing, [...path, name]),
    ]),
  );
}

/** Position of the value, or of its nearest existing parent if the value is missing. */
function faultAt(source: Source, path: readonly string[], what: string): string {
  const name = source.place([]).replace(/:\d+$/, '');
  let place = name;
  for (let length = path.length; length > 0 && !place.includes(':', name.length); length -= 1) {
    place = source.place(path.slice(0, length));
  }
  if (!place.startsWith(`${name}:`)) place = `${name}:1`;
  return `${place}: ${path.length === 0 ? 'file' : shownPath(path)}: ${what}`;
}

const lineOf = (fault: string): number => Number(/:(\d+): /.exec(fault)?.[1] ?? 0);

/** `tools[0].url` */
export const shownPath = (path: readonly string[]): string =>
  path.reduce((text, part) => (/^\d+$/.test(part) ? `${text}[${part}]` : `${text}.${part}`));

const pathOf = (pointer: string): readonly string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

/** Text with a format that `hint` describes: `must be a URL`. */
export const formatted = (pattern: string, hint: string, options: object = {}) =>
  hinted(Type.String({ ...options, pattern }), hint);

export const urlText = (...schemes: readonly string[]) =>
  formatted(
    `^(${schemes.join('|')})://[^\\s]+$`,
    `must be a URL with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`,
  );

interface SchemaError {
  readonly keyword: string;
  readonly message: string;
  readonly params: object;
}

/** Explanations of one schema error, with the path from its object to the field. */
function wordsOf(
  { keyword, message, params }: SchemaError,
  hint: string | undefined,
): ReadonlyArray<readonly [readonly string[], string]> {
  const details = params as Readonly<Record<string, unknown>>;
  const names = (key: string): readonly string[] =>
    (details[key] as readonly string[] | undefined) ?? [];
  switch (keyword) {
    case 'additionalProperties':
      return names('additionalProperties').map((name) => [[name], 'is not a known field']);
    case 'required':
      return names('requiredProperties').map((name) => [[name], 'is missing']);
    case 'enum':
      return [
        [[], `must be one of ${(details['allowedValues'] as readonly unknown[]).join(', ')}`],
      ];
    case 'boolean':
      return [];
    case 'pattern':
      return [[[], hint ?? message]];
    case 'type':
      return [
        [
          [],
          message
            .replace(/^must be (?=[aeiou])/, 'must be an ')
            .replace(/^must be (?!an )/, 'must be a '),
        ],
      ];
    case 'const':
      return [[[], `must be ${String(details['allowedValue'])}`]];
    case 'minItems':
    case 'minLength':
      return [[[], details['limit'] === 1 ? 'must not be empty' : message]];
    default:
      return [[[], message]];
  }
}
