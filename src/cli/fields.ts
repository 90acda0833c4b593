/** Parses and documents `key=value` arguments with the schema of the request body. */
import type { Command } from 'commander';

interface FieldSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly description?: string;
  readonly items?: FieldSchema;
}
interface BodySchema {
  /** Schemas by field name. Each value is a `FieldSchema`; TypeBox types do not expose that. */
  readonly properties: Readonly<Record<string, object>>;
}
/** Loads the schema on demand: most commands need none, and building schemas takes time. */
export type Fields = () => Promise<BodySchema>;

const SHORT_NUMBER = /^-?\d{1,12}(\.\d+)?$/;
const taken = new WeakMap<Command, Fields>();

/** Declares that the command accepts these fields, so that `--help` lists them. */
export function takesFields(
  command: Command,
  name: '<key=value...>' | '[key=value...]',
  example: string,
  fields: Fields,
): Command {
  taken.set(command, fields);
  return command.argument(name, example);
}

/**
 * Parses `key=value` pairs by the type of each field: `a,b` for arrays, plain text for strings, otherwise JSON if it parses.
 * The service validates the result.
 */
export async function assigned(
  pairs: readonly string[],
  fields: Fields,
): Promise<Record<string, unknown>> {
  const { properties } = await fields();
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at <= 0) throw new Error(`expected key=value, not ${pair}`);
      const name = pair.slice(0, at);
      return [name, read(pair.slice(at + 1), properties[name] as FieldSchema | undefined)];
    }),
  );
}

function read(text: string, field: FieldSchema | undefined): unknown {
  if (text === 'null') return null;
  const types = typesOf(field);
  if (types.includes('array') && !text.startsWith('['))
    return text === '' ? [] : text.split(',').map((part) => read(part.trim(), field?.items));
  if (types.includes('string')) return text.startsWith('"') ? json(text) : text;
  const isJson = SHORT_NUMBER.test(text) || /^(true|false)$/.test(text) || /^[[{"]/.test(text);
  return isJson ? json(text) : text;
}

const typesOf = (field: FieldSchema | undefined): readonly string[] =>
  [field?.type ?? []].flat() as readonly string[];

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const NUMBER = /^-?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;

/** Parses a number. An empty text, as of an unset variable in a script, is not 0. */
export function numberOf(name: string, text: string): number {
  if (!NUMBER.test(text.trim())) throw new Error(`${name} must be a number, not '${text}'`);
  return Number(text);
}

/** Adds the accepted fields to the help text of each command. */
export async function describeFields(command: Command): Promise<void> {
  for (const child of command.commands) await describeFields(child);
  const fields = taken.get(command);
  if (fields === undefined) return;
  const { properties } = await fields();
  const rows = Object.entries(properties)
    .filter(([name]) => !command.registeredArguments.some((given) => given.name() === name))
    .map(([name, field]) => ({ name, ...shown(field) }));
  const width = (part: 'name' | 'form'): number => Math.max(...rows.map((row) => row[part].length));
  const lines = rows.map(
    ({ name, form, text }) =>
      `  ${name.padEnd(width('name'))}  ${form.padEnd(width('form'))}  ${text}`,
  );
  command.addHelpText('after', ['', 'Fields:', ...lines.map((line) => line.trimEnd())].join('\n'));
}

const shown = (field: FieldSchema) => ({ form: formOf(field), text: field.description ?? '' });

function formOf(field: FieldSchema): string {
  if (field.enum !== undefined) return field.enum.filter((value) => value !== null).join('|');
  const [type = ''] = typesOf(field);
  switch (type) {
    case 'array':
      return typesOf(field.items).includes('object') ? 'JSON' : 'list';
    case 'object':
      return 'JSON';
    case 'boolean':
      return 'true|false';
    case 'integer':
    case 'number': {
      const { minimum, maximum } = field;
      return minimum === undefined || maximum === undefined ? 'number' : `${minimum}…${maximum}`;
    }
    default:
      return 'text';
  }
}
