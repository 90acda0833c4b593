import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ADMIN_TOKEN_FILE, SERVICE_FILE } from '../service/data-folder.ts';

const DEFAULT_URL = 'http://127.0.0.1:8080';

export interface ConnectionOptions {
  readonly url?: string | undefined;
  readonly token?: string | undefined;
  readonly dataDir?: string | undefined;
}

export interface Connection {
  /** Without a slash at the end. */
  readonly url: string;
  readonly token: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Options first, then the environment, then what the service left in its data folder. */
export function findConnection(options: ConnectionOptions, env: Environment): Connection {
  const dataDir = options.dataDir ?? env['CARILLON_DATA_DIR'] ?? 'data';
  const token =
    options.token ?? env['CARILLON_ADMIN_TOKEN'] ?? read(join(dataDir, ADMIN_TOKEN_FILE))?.trim();
  if (!token) {
    throw new Error(
      `no admin token: give --token, set CARILLON_ADMIN_TOKEN, or start the service so that ${join(dataDir, ADMIN_TOKEN_FILE)} exists`,
    );
  }
  return { url: findUrl(options, env), token };
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
