import { assert } from '../../base/errors.ts';
import { err } from '../../base/result.ts';
import { type Connection, NO_NODE } from './connection.ts';
import { toFailure } from './failure.ts';
import { ACCESS, type Access, type Repositories } from './repositories.ts';
import { createRepositories, type RepositorySet } from './repository-set.ts';
import { settleTouched, writeLedger } from './sql/balances.ts';
import { UnitRefused } from './sql/unit-refused.ts';
import type { Outcome, Unit } from './unit.ts';

/** Of a transaction that others are in the way of. */
const ATTEMPTS = 5;

/** Runs units of work on a connection, many in one transaction. */
export class UnitRunner {
  readonly #db: Connection;
  readonly #repositories: RepositorySet;
  readonly #onBegin: (units: readonly Unit[]) => void;
  /** Answered, and not committed yet: of the transaction that is open, or to be run again because its commit failed. */
  #ahead: readonly Unit[] = [];
  #isOpen = false;

  /** `onBegin`: what is to be done first in a transaction of these units. */
  constructor(db: Connection, onBegin: (units: readonly Unit[]) => void = () => undefined) {
    this.#db = db;
    this.#onBegin = onBegin;
    this.#repositories = createRepositories(db);
  }

  /** Answered, and not committed. */
  get uncommitted(): readonly Unit[] {
    return this.#ahead;
  }

  /** Takes over what another runner has answered and could not commit. */
  owe(units: readonly Unit[]): void {
    this.#ahead = units;
  }

  /**
   * Runs one in a transaction that stays open until others are run `together`, which brings them all. Undefined: nothing was
   * written, and it is to be run with others; so is any while earlier ones could not be committed.
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
   * In order and in one transaction: the usual case, in which no unit fails. Undefined: nothing was written, and they are to be
   * run `apart`.
   */
  together(units: readonly Unit[]): readonly Outcome[] | undefined {
    const db = this.#db;
    if (this.#ahead.length > 0 && !this.#isOpen) return undefined;
    try {
      if (!this.#isOpen) {
        db.begin(true);
        this.#onBegin(units);
      }
      const outcomes = units.map((unit) => (isWrite(unit) ? this.#write(unit) : this.#look(unit)));
      writeLedger(db);
      db.commit();
      this.#committed();
      return outcomes;
    } catch (error) {
      this.#rollback();
      if (this.#ahead.length > 0) return undefined;
      const meaning = db.meaningOf(error);
      if (meaning === 'unknown') return failed(units, error);
      return meaning === 'failed' && units.length === 1 ? [this.#outcomeOf(error)] : undefined;
    }
  }

  /** The same; each unit has a savepoint, so that a failed one does not undo the others. Those that were answered come first. */
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
      const isOver = this.#db.meaningOf(error) !== 'again' || attempt === ATTEMPTS;
      return isOver ? failed(units, error) : this.apart(units, attempt + 1);
    }
  }

  /** One that only reads, outside of a transaction. */
  read(unit: Unit): Outcome {
    try {
      return this.#noted({ ok: true, value: this.#call(unit) });
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
    return this.#noted({ ok: true, value, lowBalance: settleTouched(this.#db) });
  }

  /** Sees what the units before it have written. */
  #look(unit: Unit): Outcome {
    writeLedger(this.#db);
    return this.#noted({ ok: true, value: this.#call(unit) });
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
      if (!this.#db.inTransaction || this.#db.meaningOf(error) !== 'failed') throw error;
      this.#db.run('ROLLBACK TO unit');
      this.#db.run('RELEASE unit');
      return this.#outcomeOf(error);
    }
  }

  #outcomeOf(error: unknown): Outcome {
    this.#db.noteUnreadable(error);
    return this.#noted(
      error instanceof UnitRefused
        ? { ok: true, value: err(error.refusal) }
        : { ok: false, failure: toFailure(error) },
    );
  }

  /** With the rows that the unit could not read. */
  #noted(outcome: Outcome): Outcome {
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

export const accessOf = ({ repository, operation }: Unit): Access =>
  (ACCESS[repository as keyof Repositories] as Readonly<Record<string, Access>>)[operation] ??
  'write';

export function isWrite(unit: Unit): boolean {
  const access = accessOf(unit);
  return access === 'write' || access === 'soon' || access === 'ahead';
}

function failed(units: readonly Unit[], error: unknown): readonly Outcome[] {
  const failure = toFailure(error);
  return units.map(() => ({ ok: false, failure }));
}
