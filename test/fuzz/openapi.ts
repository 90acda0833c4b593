/**
 * `npm run fuzz:api [-- --minutes 2] [--seed 1]`: sends random requests for all operations of the running service's own OpenAPI
 * document. Checks that no request fails with 500 or ends the process, that responses have a documented status and match
 * their schema, that authentication is enforced, and that an account reaches nothing of another.
 */
import { parseArgs } from 'node:util';
import { Check, Errors } from 'typebox/schema';
import { type AccountKey, newPlace, removePlace, Service } from '../e2e/service.ts';
import { numberOption, SEED } from '../number-option.ts';
import { Mutator } from './mutator.ts';
import { type Json, RandomValues } from './random-values.ts';

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly security: readonly Json[];
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: Json;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: Json }>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: Json }>> }>
  >;
}

/** Operations that would end the run: they stop the service, or take away its credentials. */
const LEFT_OUT = /token|drain|shutdown|restart|password|users?\b|sessions?|listen|events|\/sso/i;
/** Statuses that the server sends before it finds the route, or for every route. */
const GENERAL = [400, 401, 403, 404, 405, 408, 409, 411, 413, 414, 415, 422, 429, 431];
/** An unavailable part may fail; the service itself may not. */
const FAULTS = [500];

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    seed: { type: 'string', default: '1' },
  },
});
const seed = numberOption('seed', values.seed, SEED);
const minutes = numberOption('minutes', values.minutes, {
  least: 0.1,
  most: 10_000,
  isWhole: false,
});

type Caller = 'own' | 'nobody' | 'other';

class ApiFuzz {
  readonly findings = new Map<string, string>();
  readonly statuses = new Map<number, number>();
  readonly #service: Service;
  readonly #own: AccountKey;
  readonly #other: AccountKey;
  readonly #values: RandomValues;
  requests = 0;

  constructor(service: Service, own: AccountKey, other: AccountKey, seed: number) {
    this.#service = service;
    this.#own = own;
    this.#other = other;
    this.#values = new RandomValues(new Mutator(seed));
  }

  async one(operation: Operation): Promise<void> {
    const caller: Caller = this.#values.chance(70)
      ? 'own'
      : this.#values.pick(['nobody', 'other'] as const);
    const { url, init } = this.#request(operation, caller);
    const response = await fetch(url, init);
    const text = await response.text();
    this.requests += 1;
    const { status } = response;
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    const name = `${operation.method} ${operation.path}`;
    const report = (what: string): void => {
      const input = `${url.replace(this.#service.baseUrl, '')} ${String(init.body ?? '').slice(0, 600)}`;
      if (!this.findings.has(`${name}: ${what}`))
        this.findings.set(`${name}: ${what}`, `${status} ${text.slice(0, 300)}\n   ${input}`);
    };
    if (FAULTS.includes(status) && !isSpecified(operation.path, url)) report('fails');
    this.#judgeAccess(operation, caller, status, report);
    const documented = operation.responses[String(status)];
    if (documented === undefined && !GENERAL.includes(status))
      report(`status ${status} is not documented`);
    const schema = documented?.content?.['application/json']?.schema;
    if (schema === undefined) return;
    const body = parsed(text);
    if (caller === 'own') this.#values.learn(body);
    if (status < 300 && !Check(schema, body))
      report(`violates its schema: ${JSON.stringify(Errors(schema, body)[1]).slice(0, 300)}`);
  }

  #judgeAccess(
    { security, path }: Operation,
    caller: Caller,
    status: number,
    report: (what: string) => void,
  ): void {
    if (security.length === 0 || caller === 'own' || status >= 400) return;
    const isOfAccount = path.includes('{auth_id}') || path.startsWith('/admin');
    if (caller === 'nobody' || isOfAccount) report(`answers ${caller} with ${status}`);
  }

  #request(operation: Operation, caller: Caller): { url: string; init: RequestInit } {
    const values = this.#values;
    const { path, method, parameters, requestBody, security } = operation;
    const query = new URLSearchParams();
    let filled = path;
    for (const parameter of parameters) {
      const { name, schema } = parameter;
      if (parameter.in === 'path') {
        const value = name === 'auth_id' ? this.#own.authId : String(values.of(schema));
        filled = filled.replace(`{${name}}`, () => pathSegment(value));
      } else if (parameter.in === 'query' && (parameter.required || values.chance(30)))
        query.set(name, String(values.of(schema)));
    }
    const isOperator = security.some((one) => 'adminToken' in one);
    const key = caller === 'other' ? this.#other : this.#own;
    const credentials: Record<string, string> =
      isOperator && caller === 'own'
        ? { authorization: `Bearer ${this.#service.adminToken}` }
        : { 'x-auth-id': key.authId, 'x-auth-token': key.authToken };
    const content = requestBody?.content['application/json']?.schema;
    const body = content === undefined ? undefined : JSON.stringify(values.of(content));
    return {
      url: `${this.#service.baseUrl}${filled}${query.size > 0 ? `?${query}` : ''}`,
      init: {
        method,
        redirect: 'manual',
        signal: AbortSignal.timeout(30_000),
        headers: {
          ...(caller !== 'nobody' && credentials),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: values.chance(3) ? `${body}}` : body }),
      },
    };
  }
}

/**
 * Encodes a path parameter. Empty values and the dot segments `.` and `..`, which URL normalization removes
 * (https://url.spec.whatwg.org/#path-state), would reach another route, so `x` replaces them.
 */
function pathSegment(value: string): string {
  const encoded = encodeURIComponent(value.toWellFormed());
  return /^\.{0,2}$/.test(encoded) ? 'x' : encoded;
}

/** The specification of the API answers an unparseable date of transactions with 500. A failure without a date is a fault. */
const isSpecified = (path: string, url: string): boolean =>
  path.endsWith('/transactions') && /[?&](from|to)_date=[^&]/.test(url);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const place = await newPlace({
  CARILLON_HTTP_REQUESTS_PER_SECOND: '100000',
  CARILLON_HTTP_OPERATOR_PAGES: 'token',
  CARILLON_HTTP_REFUSED_PER_SECOND: '100000',
});
const service = await Service.start(place);
const { body: document } = await service
  .admin('GET', '/../openapi.json')
  .then((answer) => (answer.status === 200 ? answer : Promise.reject(new Error(answer.text))));
const { body: made } = await service.admin('POST', '/accounts', { name: 'Other', currency: 'USD' });
const other = { authId: String(made['auth_id']), authToken: String(made['auth_token']) };
const paths = document['paths'] as Readonly<Record<string, Readonly<Record<string, Operation>>>>;
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    ...operation,
    path,
    method: method.toUpperCase(),
  })),
);
const chosen = operations.filter(({ path, method }) => !LEFT_OUT.test(`${method} ${path}`));
const fuzz = new ApiFuzz(service, service.demo, other, seed);
const random = new Mutator(seed + 1);
const endMs = performance.now() + minutes * 60_000;
while (performance.now() < endMs) {
  const operation = chosen[random.below(chosen.length)];
  if (operation === undefined) break;
  try {
    await fuzz.one(operation);
  } catch (error) {
    fuzz.findings.set(`${operation.method} ${operation.path}: no response`, String(error));
    if ((await service.get('/healthz').catch(() => undefined)) === undefined) break;
  }
}
const verified = await service.admin('POST', '/verify').catch(() => undefined);
await service.kill();
const isAlive = !service.program.output.includes('uncaught');
if (!isAlive) fuzz.findings.set('the process', service.program.output.slice(-3000));
removePlace(place);
for (const [name, detail] of fuzz.findings) console.log(`✗ ${name}\n   ${detail}`);
const counts = [...fuzz.statuses].sort(([a], [b]) => a - b).map(([status, n]) => `${status}: ${n}`);
console.log(
  `${fuzz.findings.size === 0 ? '✓' : '✗'} ${fuzz.requests} requests to ${chosen.length} of ${operations.length} operations, ` +
    `seed ${seed} (${counts.join(', ')}), ledger ${verified?.status ?? 'not verified'}`,
);
process.exit(fuzz.findings.size === 0 ? 0 : 1);
