/** Generates the types and the overloads of the Python client from the API description. */
import {
  type ApiDescription,
  jsonBodyOf,
  type NamedOperation,
  operationsOf,
  type Parameter,
  parametersIn,
  replySchemaOf,
} from './file.ts';
import { camel, type Member, PythonTypes, union } from './python-types.ts';
import type { Schema } from './shape.ts';

const HEAD = `# Made by scripts/client-api.ts from the API description (/admin/openapi.json). Not to be edited.
"""Input and output of every operation of the REST API."""
from abc import abstractmethod
from typing import IO, Any, Dict, Iterator, List, Literal, Optional, Tuple, TypedDict, Union, overload

from .transport import Download

#: Query parameter. Numbers and booleans are converted to text; None is omitted.
Text = Union[str, int, float, bool, None]

`;

/** One typed form of a method of the client. */
interface Overload {
  readonly method: string;
  readonly parameters: readonly string[];
  readonly result: string;
  readonly summary: string;
}

/** Lists whose pages the client can follow: parameters of the query, and the member with the entries. */
interface Paging {
  readonly kind: 'offset' | 'page';
  readonly items: string;
}

/** Returns the text of `packages/python/carillon/api.py`. */
export function pythonApi(description: ApiDescription): string {
  const types = new PythonTypes();
  const overloads: Overload[] = [];
  const pages: string[] = [];
  for (const operation of operationsOf(description)) {
    overloads.push(...overloadsOf(operation, types));
    const paging = pagingOf(operation);
    if (paging === undefined) continue;
    pages.push(`    ${JSON.stringify(operation.path)}: ("${paging.kind}", "${paging.items}"),\n`);
  }
  const methods = ['get', 'post', 'put', 'patch', 'delete', 'file', 'upload', 'each'].map((name) =>
    methodOf(
      name,
      overloads.filter(({ method }) => method === name),
    ),
  );
  return `${HEAD}${types.definitions.map((text) => `\n${text}`).join('\n')}

#: Lists by path: how their pages are requested, and the member with the entries.
PAGES: Dict[str, Tuple[str, str]] = {
${pages.join('')}}


class Api:
    """Methods of the client, typed by path."""

${methods.join('\n')}
${TAIL}`;
}

/** Positional arguments of each method after the path. */
const POSITIONAL: Readonly<Record<string, string>> = {
  get: '',
  file: '',
  upload: 'file: Any, content_type: str, ',
  each: '',
};

/** Returns the definition of a method. Python requires at least two overloads. */
function methodOf(name: string, overloads: readonly Overload[]): string {
  const isRequest = !['file', 'upload', 'each'].includes(name);
  const to = isRequest ? `_json("${name.toUpperCase()}", path` : `_${name}(path`;
  const [only, ...others] = overloads;
  if (only !== undefined && others.length === 0) {
    const names = only.parameters.map((parameter) => parameter.split(':')[0] ?? '');
    const own = names
      .filter((parameter) => !['self', 'path', '*'].includes(parameter))
      .map((parameter) => `, ${parameter}=${parameter}`);
    const text = declared({
      ...only,
      parameters: only.parameters.map((parameter) => parameter.replace(/= \.\.\.$/, '= None')),
    });
    return `${text}        reply: ${only.result} = self.${to}${own.join('')})\n        return reply\n`;
  }
  const positional = POSITIONAL[name] ?? 'body: Any = None, ';
  const passed = positional
    .split(', ')
    .filter((parameter) => parameter !== '')
    .map((parameter) => parameter.split(':')[0] ?? '')
    .map((parameter) => `, ${parameter}=${parameter}`);
  return `${overloads.map((overload) => `    @overload\n${declared(overload)}\n`).join('')}    def ${name}(self, path: str, ${positional}**options: Any) -> Any:
        return self.${to}${passed.join('')}, **options)
`;
}

const declared = ({ method, parameters, result, summary }: Overload): string =>
  `    def ${method}(
${parameters.map((line) => `        ${line},\n`).join('')}    ) -> ${result}:
        """${summary.replaceAll('"', "'").replace(/\.$/, '')}."""
`;

const TAIL = `    @abstractmethod
    def _json(self, method: str, path: str, **options: Any) -> Any: ...

    @abstractmethod
    def _file(self, path: str, **options: Any) -> Any: ...

    @abstractmethod
    def _upload(self, path: str, file: Any, content_type: str, **options: Any) -> Any: ...

    @abstractmethod
    def _each(self, path: str, **options: Any) -> Iterator[Any]: ...
`;

function overloadsOf(named: NamedOperation, types: PythonTypes): readonly Overload[] {
  const { method, path, operation } = named;
  const name = nameOf(named);
  const places = parametersIn(operation, 'path').map(({ name: place }) =>
    place === 'auth_id' && !path.startsWith('/admin/')
      ? 'auth_id: Optional[str] = ...'
      : `${place}: str`,
  );
  const query = queryOf(parametersIn(operation, 'query'), name, types);
  const reply = replySchemaOf(operation);
  const first = [`self`, `path: Literal[${JSON.stringify(path)}]`];
  const last = [
    ...(query === undefined ? [] : [query]),
    ...places,
    'timeout: Optional[float] = ...',
    ...(method === 'POST' ? ['idempotency_key: Optional[str] = ...'] : []),
  ];
  const overload = (to: string, own: readonly string[], result: string): Overload => ({
    method: to,
    parameters: [...first, ...own, '*', ...last],
    result,
    summary: operation.summary,
  });
  const { requestBody } = operation;
  const body = requestBody && jsonBodyOf(requestBody);
  const result = typeof reply === 'string' ? 'None' : types.of(reply, `${name}Reply`);
  if (reply === 'file') return [overload('file', [], 'Download')];
  if (requestBody !== undefined && body === undefined) {
    return [overload('upload', ['file: Union[bytes, IO[bytes]]', 'content_type: str'], result)];
  }
  const own =
    body === undefined
      ? []
      : [
          requestBody?.required
            ? `body: ${types.of(body, `${name}Body`)}`
            : `body: ${union([types.of(body, `${name}Body`), 'None'])} = ...`,
        ];
  const paging = pagingOf(named);
  const item = paging && itemOf(reply as Schema, paging.items);
  return [
    overload(method.toLowerCase(), own, result),
    ...(item === undefined
      ? []
      : [
          overload(
            'each',
            [],
            `Iterator[${types.of(item, `${name}Reply${camel(paging?.items ?? '')}Item`)}]`,
          ),
        ]),
  ];
}

function queryOf(
  parameters: readonly Parameter[],
  name: string,
  types: PythonTypes,
): string | undefined {
  if (parameters.length === 0) return undefined;
  const members: Member[] = parameters.map(({ name: parameter, required, schema }) => ({
    name: parameter,
    isRequired: required,
    type:
      schema.enum === undefined && schema.const === undefined
        ? 'Text'
        : union([types.of(schema, name), 'None']),
  }));
  const type = types.dictionary(members, `${name}Query`);
  return members.some(({ isRequired }) => isRequired)
    ? `query: ${type}`
    : `query: Optional[${type}] = ...`;
}

function pagingOf({ method, operation }: NamedOperation): Paging | undefined {
  const reply = replySchemaOf(operation);
  if (method !== 'GET' || typeof reply === 'string') return undefined;
  const has = (name: string): boolean =>
    parametersIn(operation, 'query').some((parameter) => parameter.name === name);
  const kind = has('offset') ? 'offset' : has('page') ? 'page' : undefined;
  const items = Object.entries(reply.properties ?? {}).filter(([, { type }]) => type === 'array');
  const [[member] = []] = items;
  if (kind === undefined || member === undefined || items.length > 1) return undefined;
  return { kind, items: member };
}

const itemOf = ({ properties = {} }: Schema, items: string): Schema | undefined =>
  properties[items]?.items;

/** `GetApplicationByAppId` for `GET /api/v1/Account/{auth_id}/Application/{app_id}/`. */
function nameOf({ method, path }: NamedOperation): string {
  const words = path
    .replace(/^\/(api\/)?v1\/(account\/\{auth_id\}\/)?/i, '')
    .replaceAll(/\{(\w+)\}/g, 'by_$1')
    .split('/');
  return camel([method.toLowerCase(), ...words].join('_')) || 'Get';
}
