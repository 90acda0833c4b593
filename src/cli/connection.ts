import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '../../packages/client/src/client.ts';
import { ADMIN_TOKEN_FILE, DEMO_FILE, SERVICE_FILE } from '../service/data-folder.ts';

const DEFAULT_URL = 'http://127.0.0.1:8080';
/** Longest wait for an answer: a backup of a large database takes a while. */
const TIMEOUT_MS = 600_000;

export interface ConnectionOptions {
  readonly url?: string | undefined;
  readonly token?: string | undefined;
  readonly dataDir?: string | undefined;
}

export interface AccountOptions extends ConnectionOptions {
  readonly authId?: string | undefined;
  readonly authToken?: string | undefined;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Options first, then the environment, then what the service left in its data folder. */
export function operatorClient(options: ConnectionOptions, env: Environment): Client {
  const dataDir = options.dataDir ?? env['CARILLON_DATA_DIR'] ?? 'data';
  const token =
    options.token ?? env['CARILLON_ADMIN_TOKEN'] ?? read(join(dataDir, ADMIN_TOKEN_FILE))?.trim();
  if (!token) {
    throw new Error(
      `no admin token: give --token, set CARILLON_ADMIN_TOKEN, or start the service so that ${join(dataDir, ADMIN_TOKEN_FILE)} exists`,
    );
  }
  return new Client({ url: findUrl(options, env), adminToken: token, timeoutMs: TIMEOUT_MS });
}

/** As one account: options first, then the environment, then the account that the first start of the service made. */
export function accountClient(options: AccountOptions, env: Environment): Client {
  const dataDir = options.dataDir ?? env['CARILLON_DATA_DIR'] ?? 'data';
  const first = firstAccount(join(dataDir, DEMO_FILE));
  const authId = options.authId ?? env['CARILLON_AUTH_ID'] ?? first?.authId;
  const own = authId === first?.authId ? first?.authToken : undefined;
  const authToken = options.authToken ?? env['CARILLON_AUTH_TOKEN'] ?? own;
  if (!authId || !authToken) {
    throw new Error(
      'no account: give --auth-id and --auth-token, or set CARILLON_AUTH_ID and CARILLON_AUTH_TOKEN',
    );
  }
  return new Client({ url: findUrl(options, env), authId, authToken, timeoutMs: TIMEOUT_MS });
}

function firstAccount(file: string): { authId?: string; authToken?: string } | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as { authId?: string; authToken?: string };
  } catch {
    return undefined;
  }
}

/** Address of the service, without a slash at the end. */
export function findUrl(options: Omit<ConnectionOptions, 'token'>, env: Environment): string {
  const dataDir = options.dataDir ?? env['CARILLON_DATA_DIR'] ?? 'data';
  const url =
    options.url ?? env['CARILLON_URL'] ?? env['CARILLON_PUBLIC_URL'] ?? listenerOf(env, dataDir);
  return url.replace(/\/+$/, '');
}

function listenerOf(env: Environment, dataDir: string): string {
  const { CARILLON_HTTP_HOST: host, CARILLON_HTTP_PORT: port } = env;
  if (host !== undefined || port !== undefined) {
    return `http://${host ?? '127.0.0.1'}:${port ?? '8080'}`;
  }
  return urlIn(read(join(dataDir, SERVICE_FILE))) ?? DEFAULT_URL;
}

function urlIn(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    const { url } = JSON.parse(text) as { readonly url?: unknown };
    return typeof url === 'string' ? url : undefined;
  } catch {
    return undefined;
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
