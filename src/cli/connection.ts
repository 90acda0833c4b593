import { accessSync, constants, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { Client } from '../../packages/client/src/client.ts';
import { bracketed } from '../base/host.ts';
import { ADMIN_TOKEN_FILE, DEMO_FILE, SERVICE_FILE } from '../service/data-folder.ts';

const DEFAULT_URL = 'http://127.0.0.1:8080';
/** Maximum wait for a response. A backup of a large database takes minutes. */
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

/** Adds the options that choose the account of a command. */
export const withAccountOptions = (command: Command): Command =>
  command
    .option('--auth-id <id>', 'account; default: CARILLON_AUTH_ID or the first account')
    .option(
      '--auth-token <token>',
      'auth token of the account; default: CARILLON_AUTH_TOKEN or the data folder',
    );

export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns undefined for an empty variable, as Compose files set it for a missing one. */
const given = (env: Environment, name: string): string | undefined => env[name] || undefined;

/** Returns the data folder of the service. */
export const folderOf = (options: ConnectionOptions, env: Environment): string =>
  options.dataDir ?? given(env, 'CARILLON_DATA_DIR') ?? 'data';

/** Client of the operator's API. Options take precedence over the environment, then the files in the data folder. */
export function operatorClient(options: ConnectionOptions, env: Environment): Client {
  const dataDir = folderOf(options, env);
  const token =
    options.token ??
    given(env, 'CARILLON_ADMIN_TOKEN') ??
    read(join(dataDir, ADMIN_TOKEN_FILE))?.trim();
  if (!token) {
    refuseUnreadable(join(dataDir, ADMIN_TOKEN_FILE));
    throw new Error(
      `no admin token: use --token, set CARILLON_ADMIN_TOKEN, or start the service so that ${join(dataDir, ADMIN_TOKEN_FILE)} exists`,
    );
  }
  return new Client({ ...findService(options, env), adminToken: token, timeoutMs: TIMEOUT_MS });
}

/** Client of one account. Options take precedence over the environment, then the account created at the first start. */
export function accountClient(options: AccountOptions, env: Environment): Client {
  const dataDir = folderOf(options, env);
  const first = firstAccount(join(dataDir, DEMO_FILE));
  const authId = options.authId ?? given(env, 'CARILLON_AUTH_ID') ?? first?.authId;
  const own = authId === first?.authId ? first?.authToken : undefined;
  const authToken = options.authToken ?? given(env, 'CARILLON_AUTH_TOKEN') ?? own;
  if (!authId || !authToken) {
    refuseUnreadable(join(dataDir, DEMO_FILE));
    throw new Error(
      'no account: use --auth-id and --auth-token, or set CARILLON_AUTH_ID and CARILLON_AUTH_TOKEN',
    );
  }
  const service = findService(options, env);
  return new Client({ ...service, authId, authToken, timeoutMs: TIMEOUT_MS });
}

/** Throws if the file may exist but this user must not read it, as on an installed system without sudo. */
function refuseUnreadable(file: string): void {
  try {
    accessSync(file, constants.R_OK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') return;
    throw new Error(`this user may not read ${file}: use sudo, or give the credentials as options`);
  }
}

function firstAccount(file: string): { authId?: string; authToken?: string } | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as { authId?: string; authToken?: string };
  } catch {
    return undefined;
  }
}

export interface FoundService {
  /** URL of the service without a trailing slash. */
  readonly url: string;
  readonly fetch: typeof fetch;
}

/**
 * Returns the service that the options or CARILLON_URL name, otherwise the one that last started in the data folder. The latter
 * is reached directly: a proxy in front of `publicUrl` may refuse the operator's API.
 */
export function findService(
  options: Omit<ConnectionOptions, 'token'>,
  env: Environment,
): FoundService {
  const named = options.url ?? given(env, 'CARILLON_URL');
  if (named !== undefined) return { url: checkedUrl(named), fetch };
  const dataDir = folderOf(options, env);
  const own = urlIn(read(join(dataDir, SERVICE_FILE)));
  if (own !== undefined) return { url: withoutSlash(own), fetch: fetchHere };
  const url = given(env, 'CARILLON_PUBLIC_URL') ?? listenerIn(env);
  return { url: withoutSlash(url), fetch };
}

/** Throws if requests cannot use the URL. Errors must not show its password. */
function checkedUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new Error('the URL of the service must begin with http:// or https://');
  if (url.username !== '' || url.password !== '')
    throw new Error('the URL of the service must not contain a user or password: use --token');
  return withoutSlash(text);
}

const withoutSlash = (url: string): string => url.replace(/\/+$/, '');

/** Requests a listener of this machine, whose address its certificate need not contain. */
const fetchHere: typeof fetch = async (input, init) => {
  if (!String(input).startsWith('https:')) return fetch(input, init);
  const { Agent, fetch: ask } = await import('undici');
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  return (await ask(input as string, { ...(init as object), dispatcher })) as unknown as Response;
};

function listenerIn(env: Environment): string {
  const host = given(env, 'CARILLON_HTTP_HOST');
  const port = given(env, 'CARILLON_HTTP_PORT');
  if (host === undefined && port === undefined) return DEFAULT_URL;
  return `http://${bracketed(host ?? '127.0.0.1')}:${port ?? '8080'}`;
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
