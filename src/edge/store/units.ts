import { assert } from '../../base/errors.ts';
import { err } from '../../base/result.ts';
import { type Connection, NO_NODE } from './connection.ts';
import { toFailure } from './failure.ts';
import { ACCESS, type Access, type Repositories } from './repositories.ts';
import { createRepositories, type RepositorySet } from './repository-set.ts';
import { settleTouched, writeLedger } from './sql/balances.ts';
import { UnitRefused } from './sql/unit-refused.ts';
import type { Outcome, Unit } from './unit.ts';

/** Runs units of work on a connection, many in one transaction. */
export class UnitRunner {
  readonly #db: Connection;
  readonly #repositories: RepositorySet;

  constructor(db: Connection) {
    this.#db = db;
    this.#repositories = createRepositories(db);
  }

  /**
   * In order and in one transaction: the usual case, in which no unit fails. Undefined: one of several units failed, and nothing
   * was written.
   */
  together(units: readonly Unit[]): readonly Outcome[] | undefined {
    const db = this.#db;
    try {
      db.begin();
      const outcomes = units.map((unit) => (isWrite(unit) ? this.#write(unit) : this.#look(unit)));
      writeLedger(db);
      db.commit();
      return outcomes;
    } catch (error) {
      this.#rollback();
      return units.length === 1 ? [outcomeOf(error)] : undefined;
    }
  }

  /** The same; each unit has a savepoint, so that a failed one does not undo the others. */
  apart(units: readonly Unit[]): readonly Outcome[] {
    try {
      this.#db.begin();
      const outcomes = units.map((unit) => this.#savepoint(unit));
      this.#db.commit();
      return outcomes;
    } catch (error) {
      this.#rollback();
      const failure = toFailure(error);
      return units.map(() => ({ ok: false, failure }));
    }
  }

  /** One that only reads, outside of a transaction. */
  read(unit: Unit): Outcome {
    try {
      return { ok: true, value: this.#call(unit) };
    } catch (error) {
      return { ok: false, failure: toFailure(error) };
    }
  }

  #rollback(): void {
    this.#db.undone();
    this.#db.rollback();
  }

  #write(unit: Unit): Outcome {
    const value = this.#call(unit);
    return { ok: true, value, lowBalance: settleTouched(this.#db) };
  }

  /** Sees what the units before it have written. */
  #look(unit: Unit): Outcome {
    writeLedger(this.#db);
    return { ok: true, value: this.#call(unit) };
  }

  #savepoint(unit: Unit): Outcome {
    this.#db.send('SAVEPOINT unit');
    try {
      const outcome = isWrite(unit) ? this.#write(unit) : this.#look(unit);
      writeLedger(this.#db);
      this.#db.run('RELEASE unit');
      return outcome;
    } catch (error) {
      this.#db.undone();
      // A full disk ends the whole transaction: nothing of this batch is there any more.
      if (!this.#db.inTransaction) throw error;
      this.#db.run('ROLLBACK TO unit');
      this.#db.run('RELEASE unit');
      return outcomeOf(error);
    }
  }

  #call(unit: Unit): unknown {
    const repository = this.#repositories[
      unit.repository as keyof Repositories
    ] as unknown as Record<string, (...given: readonly unknown[]) => unknown>;
    const operation = repository[unit.operation];
    assert(operation !== undefined, `the store has no ${unit.repository}.${unit.operation}`);
    this.#db.nowUs = unit.nowUs;
    this.#db.node = unit.node ?? NO_NODE;
    return operation(...unit.given);
  }
}

export const accessOf = ({ repository, operation }: Unit): Access =>
  (ACCESS[repository as keyof Repositories] as Readonly<Record<string, Access>>)[operation] ??
  'write';

export function isWrite(unit: Unit): boolean {
  const access = accessOf(unit);
  return access === 'write' || access === 'soon';
}

const outcomeOf = (error: unknown): Outcome =>
  error instanceof UnitRefused
    ? { ok: true, value: err(error.refusal) }
    : { ok: false, failure: toFailure(error) };
