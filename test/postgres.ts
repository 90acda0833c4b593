/** A PostgreSQL server for the test run, if the programs are installed: a folder in /tmp and a Unix socket, no port. */
import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PostgresConnection } from '../src/edge/store/postgres/connection.ts';
import { ephemeralKey, Vault } from '../src/edge/store/vault.ts';
import { seededRandom } from './edge/store/open.ts';
import { eventually } from './eventually.ts';

/** Installation folders of PostgreSQL on Debian and other systems, with one subfolder per version. */
const PLACES = ['/usr/lib/postgresql', '/usr/pgsql', '/opt/homebrew/opt'];
const NOBODY = 65_534;

const bin = findPrograms();

/** Reason why PostgreSQL is missing, for the title of a skipped test; undefined if it is installed. */
export const postgresMissing: string | undefined =
  bin === undefined
    ? 'PostgreSQL 15 or later is not installed (apt-get install postgresql): skipped'
    : undefined;

function findPrograms(): string | undefined {
  for (const place of PLACES.filter((path) => existsSync(path))) {
    const newest = readdirSync(place)
      .filter((version) => Number.parseInt(version, 10) >= 15)
      .sort((a, b) => Number(b) - Number(a))
      .map((version) => join(place, version, 'bin'))
      .find((folder) => existsSync(join(folder, 'initdb')));
    if (newest !== undefined) return newest;
  }
  return undefined;
}

/** User of the server, because PostgreSQL refuses to run as root. */
const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

/** Runs a program of PostgreSQL as the user of the servers. */
export const postgresProgram = (name: string, args: readonly string[]) =>
  spawnSync(join(bin ?? '', name), args, { ...user, cwd: '/tmp', encoding: 'utf8' });

function program(name: string, args: readonly string[], more: NodeJS.ProcessEnv = {}): void {
  const run = spawnSync(join(bin ?? '', name), args, {
    ...user,
    env: { ...process.env, ...more },
    cwd: '/tmp',
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  });
  if (run.status !== 0) throw new Error(`${name}: ${run.stderr}`);
}

export interface ClusterOptions {
  readonly settings?: Readonly<Record<string, string>>;
  /** Environment variables of the server's processes. */
  readonly environment?: NodeJS.ProcessEnv;
}

/** A database cluster in `folder`, which must exist. */
export class Cluster {
  readonly folder: string;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #environment: NodeJS.ProcessEnv | undefined;

  /** `settings` are server parameters. Without them the server does not sync to disk. */
  constructor(
    folder: string,
    settings: Readonly<Record<string, string>> = {},
    environment?: NodeJS.ProcessEnv,
  ) {
    this.folder = folder;
    this.#settings = settings;
    this.#environment = environment;
  }

  get #data(): string {
    return join(this.folder, 'data');
  }

  /** Writes a file that only the server can read. */
  keep(name: string, text: string): void {
    const path = join(this.folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    if (user.uid !== undefined) chownSync(path, NOBODY, NOBODY);
  }

  /** Creates the cluster. `access` is its pg_hba.conf; by default all local connections are permitted. */
  create(access?: string): void {
    if (user.uid !== undefined) chownSync(this.folder, NOBODY, NOBODY);
    const options = ['--auth=trust', '--username=carillon', '--encoding=UTF8', '--locale=C'];
    program('initdb', ['-D', this.#data, '--no-sync', ...options]);
    if (access !== undefined) this.keep('data/pg_hba.conf', access);
    this.start();
  }

  start(): void {
    const settings = {
      listen_addresses: '',
      unix_socket_directories: this.folder,
      max_connections: '120',
      fsync: 'off',
      full_page_writes: 'off',
      ...this.#settings,
    };
    const options = Object.entries(settings).map(([name, value]) => `-c ${name}='${value}'`);
    const log = join(this.folder, 'log');
    const start = ['-D', this.#data, '-w', '-l', log, '-o', options.join(' '), 'start'];
    program('pg_ctl', start, this.#environment);
  }

  /** Stops the server immediately, as a crash does. */
  stop(): void {
    program('pg_ctl', ['-D', this.#data, '-w', '-m', 'immediate', 'stop']);
  }

  /** Path of the Unix socket. */
  get socket(): string {
    return join(this.folder, '.s.PGSQL.5432');
  }

  url(database: string, port = 5432): string {
    return `postgres://carillon@/${database}?host=${encodeURIComponent(this.folder)}&port=${port}`;
  }

  connect(database: string, port?: number): PostgresConnection {
    return new PostgresConnection({
      url: this.url(database, port),
      readonly: false,
      timeoutMs: 30_000,
      vault: new Vault(ephemeralKey()),
      random: seededRandom(),
    });
  }

  /** Creates an empty database and returns its address. */
  database(name: string): string {
    const db = this.connect('postgres');
    db.run(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    db.run(`CREATE DATABASE ${name}`);
    db.close();
    return this.url(name);
  }
}

/**
 * Returns the cluster shared by all files of a run. The first caller starts it; the end of the run stops it
 * (`postgres-end.ts`).
 */
export async function sharedCluster(): Promise<Cluster> {
  const folder = process.env['CARILLON_TEST_POSTGRES'];
  if (folder === undefined) throw new Error('vitest.config.ts names the folder of PostgreSQL');
  const cluster = new Cluster(folder);
  const lock = join(folder, 'starting');
  const started = join(folder, 'started');
  if (!existsSync(started)) {
    try {
      mkdirSync(folder, { recursive: true });
      mkdirSync(lock);
      cluster.create();
      mkdirSync(started);
    } catch (error) {
      if (!isThere(error)) throw error;
      await eventually('PostgreSQL of another file', () => existsSync(started) || undefined);
    }
  }
  return cluster;
}

/** Deletes all rows of the store, and the data that nodes keep. */
export function emptyTables(db: PostgresConnection): void {
  const tables = db
    .all(`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`)
    .map((row) => String(row['tablename']))
    .filter((table) => !['schema_version', 'setting', 'counter'].includes(table));
  db.send(`SET session_replication_role = 'replica'`);
  for (const table of tables) db.send(`DELETE FROM ${table}`);
  db.send(`DELETE FROM setting WHERE key LIKE 'first-start%'`);
  for (const row of db.all(`SELECT sequencename AS name FROM pg_sequences`))
    db.send('SELECT setval(?, 1, false)', [String(row['name'])]);
  db.send('NOTIFY carillon_changes');
  db.run(`SET session_replication_role = 'origin'`);
}

const isThere = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EEXIST';
