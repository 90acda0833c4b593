/** Generates the types of the client: one entry for each operation of the API description. */
import { keyOf, type Schema, shapeOf } from './shape.ts';

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: Schema;
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

export interface Operation {
  readonly summary: string;
  readonly parameters: readonly Parameter[];
  readonly security: readonly object[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

export interface ApiDescription {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const HEAD = `// Made by scripts/client-api.ts from the API description (/admin/openapi.json). Not to be edited.

/** Reply that is a file; read it with file(). */
export type FileReply = { readonly file: true };
/** Query parameter. Numbers and booleans are converted to text; undefined is omitted. */
type Text = string | number | boolean | undefined;

/** Input and output of every operation by method and path. */
export interface Operations {
`;

/** Returns the text of `packages/client/src/api.ts`. */
export const clientApi = (description: ApiDescription): string =>
  `${HEAD}${operationsOf(description)
    .map(({ method, path, operation }) => entryOf(`${method} ${path}`, operation))
    .join('')}}\n`;

export interface NamedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** Returns the operations that are part of the clients, each once. */
export function operationsOf({ paths }: ApiDescription): readonly NamedOperation[] {
  const seen = new Set<string>();
  const found: NamedOperation[] = [];
  for (const [path, item] of Object.entries(paths)) {
    for (const [verb, operation] of Object.entries(item)) {
      const method = verb.toUpperCase();
      // `/account/` and `/Account/` are the same route. Operations for browsers only are not part of the client.
      const key = `${method} ${path}`.toLowerCase();
      if (seen.has(key) || !isForPrograms(operation)) continue;
      seen.add(key);
      found.push({ method, path, operation });
    }
  }
  return found;
}

const isForPrograms = ({ security }: Operation): boolean =>
  security.some((scheme) => ['authId', 'adminToken'].some((name) => name in scheme));

function entryOf(name: string, operation: Operation): string {
  const members = [
    ...member('path', parametersIn(operation, 'path'), () => 'string'),
    ...member('query', parametersIn(operation, 'query'), queryShape),
    ...bodyOf(operation),
    `reply: ${replyOf(operation)}`,
  ];
  return `  /** ${operation.summary} */\n  '${name}': {\n${members.map((line) => `    ${line};\n`).join('')}  };\n`;
}

export const parametersIn = (
  { parameters }: Operation,
  location: Parameter['in'],
): readonly Parameter[] => parameters.filter((parameter) => parameter.in === location);

function member(
  key: string,
  parameters: readonly Parameter[],
  shape: (schema: Schema) => string,
): readonly string[] {
  if (parameters.length === 0) return [];
  const members = parameters.map(
    ({ name, required, schema }) => `${keyOf(name)}${required ? '' : '?'}: ${shape(schema)}`,
  );
  const optional = parameters.some(({ required }) => required) ? '' : '?';
  return [`${key}${optional}: { ${members.join('; ')} }`];
}

const queryShape = (schema: Schema): string =>
  schema.enum === undefined && schema.const === undefined
    ? 'Text'
    : `${shapeOf(schema)} | undefined`;

function bodyOf({ requestBody }: Operation): readonly string[] {
  if (requestBody === undefined) return [];
  const schema = jsonBodyOf(requestBody);
  if (schema === undefined) return ['upload: true'];
  return [`body${requestBody.required ? '' : '?'}: ${shapeOf(schema)}`];
}

/** Returns the schema of a JSON body, or undefined if the operation accepts a file. */
export function jsonBodyOf({ content }: NonNullable<Operation['requestBody']>): Schema | undefined {
  const { 'application/json': json, ...files } = content;
  return Object.keys(files).length > 0 ? undefined : (json?.schema ?? {});
}

function replyOf(operation: Operation): string {
  const reply = replySchemaOf(operation);
  if (reply === 'none') return 'undefined';
  return reply === 'file' ? 'FileReply' : shapeOf(reply);
}

/** Returns the schema of the JSON reply; `none` if the reply is empty, `file` if it is not JSON. */
export function replySchemaOf({ responses }: Operation): Schema | 'none' | 'file' {
  const done = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const content = done[0]?.[1].content;
  if (content === undefined) return 'none';
  const json = content['application/json'];
  return json === undefined ? 'file' : (json.schema ?? {});
}
