import type { Random } from '../../../base/ids.ts';
import { changesAnswers } from '../answer-cache.ts';
import { proveKey } from '../key-proof.ts';
import { PROBE } from '../marks.ts';
import type { Outcome, Unit } from '../unit.ts';
import { isWrite, UnitRunner } from '../units.ts';
import { Vault } from '../vault.ts';
import { PostgresConnection, type PostgresOptions } from './connection.ts';
import { lockFor } from './locks.ts';
import { migratePostgres } from './migrate.ts';

/** `point`: short reads, many of them kept; `report`: long ones. Both only read. */
export type PostgresRole = 'writer' | 'point' | 'report';

export interface PostgresEngineOptions {
  readonly url: string;
  readonly role: PostgresRole;
  /** Brings the schema up to date and looks whether the key file is that of the database. */
  readonly prepares: boolean;
  readonly key: Uint8Array;
  readonly random: Random;
}

/** How long a statement may take, milliseconds. */
const PATIENCE_MS: Readonly<Record<PostgresRole, number>> = {
  writer: 10_000,
  point: 5000,
  report: 120_000,
};
/** Of the first start on an empty database, and of migrations. */
const PREPARING_MS = 600_000;

/** Whoever changes what nodes keep in memory says so here, to all of them. */
const CHANNEL = 'carillon_changes';

/** All repositories over one connection to PostgreSQL; runs units of work, many in one transaction. */
export class PostgresEngine {
  readonly #db: PostgresConnection;
  readonly #units: UnitRunner;
  readonly #isPoint: boolean;
  readonly #tell: (hears: boolean) => void;
  #hasHeard = false;

  /** `tell`, of short reads alone: what was read may have changed; and whether the next change will be told of. */
  constructor(options: PostgresEngineOptions, tell: (hears: boolean) => void) {
    if (options.prepares) prepare(options);
    this.#tell = tell;
    const db = connectionOf(options, PATIENCE_MS[options.role], {
      onConnect: () => this.#connected(),
      onLost: () => this.#lost(),
    });
    this.#db = db;
    this.#units = new UnitRunner(db, (units) => {
      lockFor(db, units);
      if (changesAnswers(units) || units.some(changesSetting)) db.send(`NOTIFY ${CHANNEL}`);
    });
    this.#isPoint = options.role === 'point';
  }

  /** As the engine of SQLite does: those that write in one transaction, each answered on its own. */
  run(units: readonly Unit[]): readonly Outcome[] {
    if (units.some(isWrite)) return this.#units.together(units) ?? this.#units.apart(units);
    const outcomes = units.map((unit) => this.#read(unit));
    // What came with the answers is waited for by nobody.
    if (this.#isPoint) this.#listen();
    return outcomes;
  }

  /** A connection that is lost between two reads is made anew, once. */
  #read(unit: Unit): Outcome {
    const outcome = this.#units.read(unit);
    return !outcome.ok && outcome.failure.code === 'STORE_BUSY' ? this.#units.read(unit) : outcome;
  }

  /** Whether a node has changed something since the last time. */
  heard(): boolean {
    if (this.#listen() === 'away') this.#db.get('SELECT 1 AS here');
    const heard = this.#hasHeard;
    this.#hasHeard = false;
    return heard;
  }

  close(): void {
    this.#db.close();
  }

  #listen(): 'yes' | 'no' | 'away' {
    const notified = this.#db.notified();
    if (notified !== 'yes') return notified;
    this.#hasHeard = true;
    this.#tell(true);
    return notified;
  }

  #connected(): void {
    // Nobody has told us meanwhile.
    this.#hasHeard = true;
    if (!this.#isPoint) return;
    this.#db.run(`LISTEN ${CHANNEL}`);
    this.#db.watch(() => this.#listen());
    this.#tell(true);
  }

  #lost(): void {
    if (this.#isPoint) this.#tell(false);
  }
}

/** Those that domain modules keep in memory, not what the store writes for itself. */
const changesSetting = ({ repository, operation, given }: Unit): boolean =>
  repository === 'settings' && operation === 'set' && given[0] !== PROBE;

function prepare(options: PostgresEngineOptions): void {
  const db = connectionOf(options, PREPARING_MS);
  try {
    migratePostgres(db);
    proveKey(db);
  } finally {
    db.close();
  }
}

const connectionOf = (
  { url, role, key, random }: PostgresEngineOptions,
  patienceMs: number,
  told: Pick<PostgresOptions, 'onConnect' | 'onLost'> = {},
): PostgresConnection =>
  new PostgresConnection({
    url,
    readonly: role !== 'writer',
    patienceMs,
    vault: new Vault(key),
    random,
    ...told,
  });
