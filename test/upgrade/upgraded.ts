/** The current service, started on a data folder of an earlier version, and requests for all lists and records. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import {
  type Answer,
  type Environment,
  type Json,
  newPlace,
  ROOT,
  removePlace,
  Service,
  type ServicePlace,
} from '../e2e/service.ts';
import type { RecordedAccount } from './recorded.ts';

interface Operation {
  /** Path with `{auth_id}` filled in; other parameters remain. */
  readonly path: string;
  readonly parameters: readonly string[];
}

/** Returns all GET operations of an OpenAPI document. */
function reads(document: Json, account: RecordedAccount): readonly Operation[] {
  return Object.entries(document['paths'] as Record<string, Record<string, Json>>)
    .filter(([, methods]) => methods['get'] !== undefined)
    .map(([path]) => path.replace('{auth_id}', account.authId))
    .map((path) => ({
      path,
      parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? ''),
    }));
}

/** Values that fill the last parameter of `path`, from the items of a list. */
function idsIn(list: Json, parameter: string): readonly string[] {
  const items = Object.values(list).find((value): value is Json[] => Array.isArray(value)) ?? [];
  return items.flatMap((item) => {
    const id = item[parameter] ?? item['id'] ?? item['uuid'] ?? item['call_uuid'];
    return typeof id === 'string' || typeof id === 'number' ? [String(id)] : [];
  });
}

type Get = (path: string) => Promise<Answer>;

/** Requests every list and, for each item, its record. Returns the failed requests and the number of records. */
async function failures(operations: readonly Operation[], get: Get) {
  const failed: string[] = [];
  const note = ({ status, text }: Answer, path: string): void => {
    if (status >= 500) failed.push(`${path}: ${status} ${text.slice(0, 200)}`);
  };
  let records = 0;
  for (const { path, parameters } of operations) {
    if (parameters.length > 0) continue;
    const list = await get(path);
    note(list, path);
    const below = operations.filter(
      (one) =>
        one.parameters.length === 1 &&
        one.path.replace(/\/\{\w+\}(\/.*)?$/, '') === path.replace(/\/$/, ''),
    );
    for (const detail of below) {
      const [parameter = ''] = detail.parameters;
      for (const id of idsIn(list.body, parameter).slice(0, 5)) {
        note(await get(detail.path.replace(`{${parameter}}`, encodeURIComponent(id))), detail.path);
        records += 1;
      }
    }
  }
  return { failed, records };
}

const isStreaming = ({ path }: Operation): boolean =>
  /events|listen|watch|feed|messages/.test(path);

/** A service on the data folder of an earlier version. */
export class Upgraded {
  readonly service: Service;
  readonly account: RecordedAccount;
  readonly #place: ServicePlace;
  readonly #reserved: ServicePlace;

  private constructor(
    service: Service,
    account: RecordedAccount,
    place: ServicePlace,
    reserved: ServicePlace,
  ) {
    this.service = service;
    this.account = account;
    this.#place = place;
    this.#reserved = reserved;
  }

  static async start(
    dataDir: string,
    account: RecordedAccount,
    more: Environment = {},
  ): Promise<Upgraded> {
    const reserved = await newPlace(more);
    const environment = { ...reserved.environment, CARILLON_DATA_DIR: dataDir };
    const place = { dataDir, environment };
    return new Upgraded(await Service.start(place), account, place, reserved);
  }

  /** Ends the service. Returns the exit status. */
  async stop(): Promise<number | NodeJS.Signals> {
    const status = await this.service.stop();
    removePlace(this.#reserved);
    return status;
  }

  async kill(): Promise<void> {
    await this.service.kill();
    removePlace(this.#reserved);
  }

  /** Sends a request as the account, which is not the one in `demo.json`. */
  async request(method: string, path: string, body?: Json): Promise<Answer> {
    const { authId, authToken } = this.account;
    const url = path.startsWith('/') ? path : `/api/v1/Account/${authId}/${path}`;
    const response = await fetch(`${this.service.baseUrl}${url}`, {
      method,
      headers: {
        'x-auth-id': authId,
        'x-auth-token': authToken,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return { status: response.status, text, body: isJson ? (JSON.parse(text) as Json) : {} };
  }

  /** Runs the command line with the settings and the token of the service. */
  carillon(...args: readonly string[]) {
    return this.carillonOn({}, ...args);
  }

  /** Like `carillon`, with further environment variables. */
  carillonOn(more: Environment, ...args: readonly string[]) {
    const done = spawnSync(process.execPath, [join(ROOT, 'bin/carillon.mjs'), ...args], {
      encoding: 'utf8',
      env: {
        ...this.#place.environment,
        PATH: process.env['PATH'],
        CARILLON_URL: this.service.baseUrl,
        ...more,
      },
    });
    return { status: done.status, stdout: done.stdout, stderr: done.stderr };
  }

  /** Requests every list and record of the account and of the operator. Returns the failed requests. */
  async allReads(): Promise<{ readonly failed: readonly string[]; readonly records: number }> {
    const { service, account } = this;
    const own = reads((await service.get('/openapi.json')).body, account).filter(
      (one) => !isStreaming(one) && one.path.includes('/api/'),
    );
    const operators = reads((await service.admin('GET', '/../openapi.json')).body, account).filter(
      (one) => !isStreaming(one) && one.path.startsWith('/admin/v1/'),
    );
    const asOperator: Get = (path) => service.admin('GET', path.replace('/admin/v1', ''));
    const ofAccount = await failures(own, (path) => this.request('GET', path));
    const ofOperator = await failures(operators, asOperator);
    return {
      failed: [...ofAccount.failed, ...ofOperator.failed],
      records: ofAccount.records + ofOperator.records,
    };
  }
}
