import type { Random } from '../../../base/ids.ts';
import { changesAnswers } from '../answer-cache.ts';
import { proveKey } from '../key-proof.ts';
import { PROBE } from '../marks.ts';
import type { Outcome, Unit } from '../unit.ts';
import { isWrite, UnitRunner } from '../units.ts';
import { type UnreadableRow, UnreadableRowError } from '../unreadable.ts';
import { Vault } from '../vault.ts';
import { PostgresConnection, type PostgresOptions } from './connection.ts';
import { lockFor } from './locks.ts';
import { migratePostgres } from './migrate.ts';

/** Role of a connection. `point`: short reads, many of them cached. `report`: long reads. Both are read-only. */
type PostgresRole = 'writer' | 'point' | 'report';

export interface PostgresEngineOptions {
  readonly url: string;
  readonly role: PostgresRole;
  /** Whether this connection migrates the schema and checks that the key file belongs to the database. */
  readonly prepares: boolean;
  readonly key: Uint8Array;
  readonly random: Random;
}

/** Statement timeout per role, milliseconds. */
const TIMEOUT_MS: Readonly<Record<PostgresRole, number>> = {
  writer: 10_000,
  point: 5000,
  report: 120_000,
};
/** Statement timeout during the first start on an empty database and during migrations, milliseconds. */
const PREPARING_MS = 600_000;

/** Notification channel on which nodes announce changes of data that other nodes cache. */
const CHANNEL = 'carillon_changes';

/** Contains all repositories on one connection to PostgreSQL and runs units of work, many of them in one transaction. */
export class PostgresEngine {
  readonly #db: PostgresConnection;
  readonly #units: UnitRunner;
  readonly #isPoint: boolean;
  readonly #notify: (hears: boolean) => void;
  #hasChanges = false;

  /**
   * `notify` is called for role `point` only: cached reads may be outdated. Its argument says whether the next change will be
   * announced.
   */
  constructor(options: PostgresEngineOptions, notify: (hears: boolean) => void) {
    const unreadable = options.prepares ? prepare(options) : [];
    this.#notify = notify;
    const db = connectionOf(options, TIMEOUT_MS[options.role], {
      onConnect: () => this.#connected(),
      onLost: () => this.#lost(),
    });
    this.#db = db;
    // Reported with the first unit.
    for (const row of unreadable) db.noteUnreadable(new UnreadableRowError(row));
    this.#units = new UnitRunner(db, (units) => {
      lockFor(db, units);
      if (changesAnswers(units) || units.some(changesSetting)) db.send(`NOTIFY ${CHANNEL}`);
    });
    this.#isPoint = options.role === 'point';
  }

  /** Works like the SQLite engine: units that write share one transaction, and each has its own outcome. */
  run(units: readonly Unit[]): readonly Outcome[] {
    if (units.some(isWrite)) return this.#units.together(units) ?? this.#units.apart(units);
    const outcomes = units.map((unit) => this.#read(unit));
    // Handles the notifications that arrived with the results.
    if (this.#isPoint) this.#listen();
    return outcomes;
  }

  /** Reconnects once if the connection was lost between two reads. */
  #read(unit: Unit): Outcome {
    const outcome = this.#units.read(unit);
    return !outcome.ok && outcome.failure.code === 'STORE_BUSY' ? this.#units.read(unit) : outcome;
  }

  /** Returns whether a node has announced a change since the last call. */
  received(): boolean {
    if (this.#listen() === 'away') this.#db.get('SELECT 1 AS here');
    const received = this.#hasChanges;
    this.#hasChanges = false;
    return received;
  }

  close(): void {
    this.#db.close();
  }

  #listen(): 'yes' | 'no' | 'away' {
    const notified = this.#db.notified();
    if (notified !== 'yes') return notified;
    this.#hasChanges = true;
    this.#notify(true);
    return notified;
  }

  #connected(): void {
    // Changes during the loss of the connection were not announced.
    this.#hasChanges = true;
    if (!this.#isPoint) return;
    this.#db.run(`LISTEN ${CHANNEL}`);
    this.#db.watch(() => this.#listen());
    this.#notify(true);
  }

  #lost(): void {
    if (this.#isPoint) this.#notify(false);
  }
}

/** Settings that domain modules cache, without those that the store writes for internal use. */
const changesSetting = ({ repository, operation, given }: Unit): boolean =>
  repository === 'settings' && operation === 'set' && given[0] !== PROBE;

/** Returns rows that it could not read. */
function prepare(options: PostgresEngineOptions): readonly UnreadableRow[] {
  const db = connectionOf(options, PREPARING_MS);
  try {
    migratePostgres(db);
    proveKey(db);
    return db.takeUnreadable();
  } finally {
    db.close();
  }
}

const connectionOf = (
  { url, role, key, random }: PostgresEngineOptions,
  timeoutMs: number,
  reported: Pick<PostgresOptions, 'onConnect' | 'onLost'> = {},
): PostgresConnection =>
  new PostgresConnection({
    url,
    readonly: role !== 'writer',
    timeoutMs,
    vault: new Vault(key),
    random,
    ...reported,
  });
