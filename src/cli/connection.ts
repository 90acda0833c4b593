import { accessSync, constants, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { Client } from '../../packages/client/src/client.ts';
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

/** Client of the operator's API. Options take precedence over the environment, then the files in the data folder. */
export function operatorClient(options: ConnectionOptions, env: Environment): Client {
  const dataDir = options.dataDir ?? env['CARILLON_DATA_DIR'] ?? 'data';
  const token =
    options.token ?? env['CARILLON_ADMIN_TOKEN'] ?? read(join(dataDir, ADMIN_TOKEN_FILE))?.trim();
  if (!token) {
    refuseUnreadable(join(dataDir, ADMIN_TOKEN_FILE));
    throw new Error(
      `no admin token: use --token, set CARILLON_ADMIN_TOKEN, or start the service so that ${join(dataDir, ADMIN_TOKEN_FILE)} exists`,
    );
  }
  return new Client({ url: findUrl(options, env), adminToken: token, timeoutMs: TIMEOUT_MS });
}

/** Client of one account. Options take precedence over the environment, then the account created at the first start. */
export function accountClient(options: AccountOptions, env: Environment): Client {
  const dataDir = options.dataDir ?? env['CARILLON_DATA_DIR'] ?? 'data';
  const first = firstAccount(join(dataDir, DEMO_FILE));
  const authId = options.authId ?? env['CARILLON_AUTH_ID'] ?? first?.authId;
  const own = authId === first?.authId ? first?.authToken : undefined;
  const authToken = options.authToken ?? env['CARILLON_AUTH_TOKEN'] ?? own;
  if (!authId || !authToken) {
    refuseUnreadable(join(dataDir, DEMO_FILE));
    throw new Error(
      'no account: use --auth-id and --auth-token, or set CARILLON_AUTH_ID and CARILLON_AUTH_TOKEN',
    );
  }
  return new Client({ url: findUrl(options, env), authId, authToken, timeoutMs: TIMEOUT_MS });
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

/** Returns the URL of the service without a trailing slash. */
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
