/** Finds parameters and fields that the route does not describe, so that they are rejected instead of ignored. */
import type { Failure } from './failure.ts';
import { failure } from './failure.ts';
import type { Route } from './route.ts';

interface Described {
  readonly properties?: Readonly<Record<string, Described>>;
  readonly items?: Described;
  readonly additionalProperties?: unknown;
}

type Problems = Record<string, string>;

/** Maximum number of names in an error; a body may contain thousands. */
const NAMES_MAX = 20;
const UNKNOWN_FIELD = 'is not a field of this request';

/**
 * Rejects parameters and fields outside the schema. Repeated parameters are always rejected. Unknown parameters are rejected
 * on routes with filters, unless the spec requires ignoring them. Unknown body fields are rejected for the operator, or if the
 * body contains filters.
 */
export function beyondSchema(
  route: Pick<Route, 'audience' | 'query' | 'body' | 'dropsUnknownQuery' | 'filtersInBody'>,
  query: unknown,
  body: unknown,
): Failure | undefined {
  const problems: Problems = {};
  checkQuery(route, (query ?? {}) as Readonly<Record<string, unknown>>, problems);
  if (route.audience === 'admin' || route.filtersInBody)
    checkBody(route.body ?? {}, body, '', problems);
  const entries = Object.entries(problems);
  if (entries.length === 0) return undefined;
  return failure(400, 'invalid request parameters', {
    detail: entries.map(([name, problem]) => `${name} ${problem}`).join('; '),
    details: problems,
  });
}

function checkQuery(
  route: Pick<Route, 'audience' | 'query' | 'dropsUnknownQuery'>,
  query: Readonly<Record<string, unknown>>,
  problems: Problems,
): void {
  const described = route.query as Described | undefined;
  const known = described?.properties ?? (route.audience === 'admin' ? {} : undefined);
  // Links accept unknown parameters, because mail programs add them.
  const refuses = known !== undefined && route.audience !== 'link' && !route.dropsUnknownQuery;
  for (const [name, value] of Object.entries(query)) {
    if (Object.keys(problems).length >= NAMES_MAX) return;
    if (Array.isArray(value)) note(problems, name, 'is given more than once');
    else if (refuses && !Object.hasOwn(known, name)) {
      const names = Object.keys(known);
      const has = names.length === 0 ? 'it has none' : `it has ${names.join(', ')}`;
      note(problems, name, `is not a parameter of this request; ${has}`);
    }
  }
}

function checkBody(schema: Described, value: unknown, path: string, problems: Problems): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return;
    value.forEach((item, index) => {
      checkBody(items, item, `${path}${index}.`, problems);
    });
    return;
  }
  if (schema.properties === undefined && path !== '') return;
  const known = schema.properties ?? {};
  for (const [name, member] of Object.entries(value)) {
    if (Object.keys(problems).length >= NAMES_MAX) return;
    const described = Object.hasOwn(known, name) ? known[name] : undefined;
    if (described === undefined) note(problems, path + name, UNKNOWN_FIELD);
    else checkBody(described, member, `${path}${name}.`, problems);
  }
}

/** Defines the property directly, so that a member named `__proto__` is stored like any other. */
const note = (problems: Problems, name: string, problem: string): void => {
  Object.defineProperty(problems, name, { value: problem, enumerable: true, configurable: true });
};
