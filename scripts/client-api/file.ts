/** Generates the types of the client: one entry for each operation of the API description. */
import { keyOf, type Schema, shapeOf } from './shape.ts';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: Schema;
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

interface Operation {
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
export function clientApi({ paths }: ApiDescription): string {
  const seen = new Set<string>();
  const entries: string[] = [];
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const name = `${method.toUpperCase()} ${path}`;
      // `/account/` and `/Account/` are the same route. Operations for browsers only are not part of the client.
      if (seen.has(name.toLowerCase()) || !isForPrograms(operation)) continue;
      seen.add(name.toLowerCase());
      entries.push(entryOf(name, operation));
    }
  }
  return `${HEAD}${entries.join('')}}\n`;
}

const isForPrograms = ({ security }: Operation): boolean =>
  security.some((scheme) => ['authId', 'adminToken'].some((name) => name in scheme));

function entryOf(name: string, operation: Operation): string {
  const part = (location: Parameter['in']): readonly Parameter[] =>
    operation.parameters.filter((parameter) => parameter.in === location);
  const members = [
    ...member('path', part('path'), () => 'string'),
    ...member('query', part('query'), queryShape),
    ...bodyOf(operation),
    `reply: ${replyOf(operation)}`,
  ];
  return `  /** ${operation.summary} */\n  '${name}': {\n${members.map((line) => `    ${line};\n`).join('')}  };\n`;
}

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
  const { 'application/json': json, ...files } = requestBody.content;
  if (Object.keys(files).length > 0) return ['upload: true'];
  return [`body${requestBody.required ? '' : '?'}: ${shapeOf(json?.schema ?? {})}`];
}

function replyOf({ responses }: Operation): string {
  const done = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const content = done[0]?.[1].content;
  if (content === undefined) return 'undefined';
  const json = content['application/json'];
  if (json === undefined) return 'FileReply';
  return json.schema === undefined ? 'unknown' : shapeOf(json.schema);
}
