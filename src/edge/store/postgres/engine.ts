import type { Random } from '../../../base/ids.ts';
import { AnswerCache, changesAnswers } from '../answer-cache.ts';
import { proveKey } from '../key-proof.ts';
import { PROBE } from '../marks.ts';
import type { Outcome, Unit } from '../unit.ts';
import { isWrite, UnitRunner } from '../units.ts';
import { Vault } from '../vault.ts';
import { PostgresConnection } from './connection.ts';
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
  readonly #answers = new AnswerCache();
  readonly #isPoint: boolean;
  #hasHeard = false;

  constructor(options: PostgresEngineOptions) {
    if (options.prepares) prepare(options);
    const db = connectionOf(options, PATIENCE_MS[options.role], () => this.#connected());
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
    if (this.#isPoint) this.#listen();
    return units.map((unit) => this.#read(unit));
  }

  /** A connection that is lost between two reads is made anew, once. */
  #read(unit: Unit): Outcome {
    const read = (asked: Unit): Outcome => this.#units.read(asked);
    const again = (asked: Unit): Outcome => {
      const outcome = read(asked);
      return !outcome.ok && outcome.failure.code === 'STORE_BUSY' ? read(asked) : outcome;
    };
    return this.#isPoint ? this.#answers.answer(unit, again) : again(unit);
  }

  /** What is known may be out of date: this node has changed it. */
  forget(): void {
    this.#answers.forget();
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
    if (notified !== 'no') this.#answers.forget();
    if (notified === 'yes') this.#hasHeard = true;
    return notified;
  }

  #connected(): void {
    // Nobody has told us meanwhile.
    this.#answers.forget();
    this.#hasHeard = true;
    if (this.#isPoint) this.#db.run(`LISTEN ${CHANNEL}`);
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
  onConnect?: () => void,
): PostgresConnection =>
  new PostgresConnection({
    url,
    readonly: role !== 'writer',
    patienceMs,
    vault: new Vault(key),
    random,
    ...(onConnect && { onConnect }),
  });
