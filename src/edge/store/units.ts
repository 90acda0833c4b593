import { assert } from '../../base/errors.ts';
import { err } from '../../base/result.ts';
import { type Connection, NO_NODE } from './connection.ts';
import { toFailure } from './failure.ts';
import type { Access } from './repositories.ts';
import {
  ACCESS,
  createRepositories,
  type Repositories,
  type RepositorySet,
} from './repository-set.ts';
import { settleTouched, writeLedger } from './sql/balances.ts';
import { UnitRefused } from './sql/unit-refused.ts';
import type { Outcome, Unit } from './unit.ts';

/** Maximum number of attempts of a transaction that conflicts with others. */
const ATTEMPTS = 5;

/** Runs units of work on a connection, many of them in one transaction. */
export class UnitRunner {
  readonly #db: Connection;
  readonly #repositories: RepositorySet;
  readonly #onBegin: (units: readonly Unit[]) => void;
  /**
   * Units that were answered but not committed: part of the open transaction, or to be run again because their commit failed.
   */
  #ahead: readonly Unit[] = [];
  #isOpen = false;

  /** `onBegin` is called with the units at the beginning of each transaction. */
  constructor(db: Connection, onBegin: (units: readonly Unit[]) => void = () => undefined) {
    this.#db = db;
    this.#onBegin = onBegin;
    this.#repositories = createRepositories(db);
  }

  /** Units that were answered but not committed. */
  get uncommitted(): readonly Unit[] {
    return this.#ahead;
  }

  /** Adopts units that another runner answered but could not commit. */
  owe(units: readonly Unit[]): void {
    this.#ahead = units;
  }

  /**
   * Runs a unit in a transaction that stays open until `together` commits it. Returns undefined if nothing was written and the
   * unit must run with others. This includes every unit while earlier ones could not be committed.
   */
  ahead(unit: Unit): Outcome | undefined {
    if (this.#ahead.length > 0 && !this.#isOpen) return undefined;
    try {
      if (!this.#isOpen) this.#db.begin(false);
      this.#isOpen = true;
      const outcome = this.#write(unit);
      this.#ahead = [...this.#ahead, unit];
      return outcome;
    } catch {
      this.#rollback();
      return undefined;
    }
  }

  /**
   * Runs the units in order in one transaction, in the usual case that no unit fails. Returns undefined if nothing was written
   * and they must be run by `apart`.
   */
  together(units: readonly Unit[]): readonly Outcome[] | undefined {
    const db = this.#db;
    if (this.#ahead.length > 0 && !this.#isOpen) return undefined;
    try {
      if (!this.#isOpen) {
        db.begin(true);
        this.#onBegin(units);
      }
      const outcomes = units.map((unit) =>
        isWrite(unit) ? this.#write(unit) : this.#readWithin(unit),
      );
      writeLedger(db);
      db.commit();
      this.#committed();
      return outcomes;
    } catch (error) {
      this.#rollback();
      if (this.#ahead.length > 0) return undefined;
      const meaning = db.meaningOf(error);
      if (meaning === 'unknown') return failed(units, error, meaning);
      return meaning === 'failed' && units.length === 1 ? [this.#outcomeOf(error)] : undefined;
    }
  }

  /**
   * Like `together`, but with a savepoint per unit, so that a failed unit does not undo the others. Units that were already
   * answered run first.
   */
  apart(units: readonly Unit[], attempt = 1): readonly Outcome[] {
    try {
      this.#db.begin(false);
      this.#onBegin(units);
      const outcomes = [...this.#ahead, ...units].map((unit) => this.#savepoint(unit));
      this.#db.commit();
      const answered = this.#ahead.length;
      this.#committed();
      return outcomes.slice(answered);
    } catch (error) {
      this.#rollback();
      const meaning = this.#db.meaningOf(error);
      const isOver = meaning !== 'again' || attempt === ATTEMPTS;
      return isOver ? failed(units, error, meaning) : this.apart(units, attempt + 1);
    }
  }

  /** Runs a unit that only reads, outside of a transaction. */
  read(unit: Unit): Outcome {
    try {
      return this.#withUnreadable({ ok: true, value: this.#call(unit) });
    } catch (error) {
      return this.#outcomeOf(error);
    }
  }

  #committed(): void {
    this.#isOpen = false;
    this.#ahead = [];
  }

  #rollback(): void {
    this.#isOpen = false;
    this.#db.undone();
    this.#db.rollback();
  }

  #write(unit: Unit): Outcome {
    const value = this.#call(unit);
    return this.#withUnreadable({ ok: true, value, lowBalance: settleTouched(this.#db) });
  }

  /** Runs a read that sees the writes of the units before it. */
  #readWithin(unit: Unit): Outcome {
    writeLedger(this.#db);
    return this.#withUnreadable({ ok: true, value: this.#call(unit) });
  }

  #savepoint(unit: Unit): Outcome {
    this.#db.send('SAVEPOINT unit');
    try {
      const outcome = isWrite(unit) ? this.#write(unit) : this.#readWithin(unit);
      writeLedger(this.#db);
      this.#db.run('RELEASE unit');
      return outcome;
    } catch (error) {
      this.#db.undone();
      // A full disk ends the whole transaction, so nothing of this batch remains.
      if (!this.#db.inTransaction || this.#db.meaningOf(error) !== 'failed') throw error;
      this.#db.run('ROLLBACK TO unit');
      this.#db.run('RELEASE unit');
      return this.#outcomeOf(error);
    }
  }

  #outcomeOf(error: unknown): Outcome {
    this.#db.noteUnreadable(error);
    return this.#withUnreadable(
      error instanceof UnitRefused
        ? { ok: true, value: err(error.refusal) }
        : { ok: false, failure: toFailure(error) },
    );
  }

  /** Adds the rows that the unit could not read to its outcome. */
  #withUnreadable(outcome: Outcome): Outcome {
    const unreadable = this.#db.takeUnreadable();
    return unreadable.length === 0 ? outcome : { ...outcome, unreadable };
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

const accessOf = ({ repository, operation }: Unit): Access =>
  (ACCESS[repository as keyof Repositories] as Readonly<Record<string, Access>>)[operation] ??
  'write';

export function isWrite(unit: Unit): boolean {
  const access = accessOf(unit);
  return access === 'write' || access === 'soon' || access === 'ahead';
}

function failed(
  units: readonly Unit[],
  error: unknown,
  meaning: ReturnType<Connection['meaningOf']>,
): readonly Outcome[] {
  const failure = { ...toFailure(error), ...(meaning === 'unknown' && { isUnknown: true }) };
  return units.map(() => ({ ok: false, failure }));
}
