/** Units of work on PostgreSQL: writers that commit in groups, rows of accounts that one transaction at a time may change. */
import type { Servers, Simulator } from './simulator.ts';

export interface LedgerCosts {
  /** CPU of PostgreSQL: of a transaction, of each unit of work in it, of each account that it moves. */
  readonly transactionMs: number;
  readonly unitMs: number;
  readonly accountMs: number;
  /** CPU of the node per unit, ms. */
  readonly clientMs: number;
  /** Duration of a commit on disk. The CPU is free during that time. */
  readonly syncMs: number;
  /** Round-trip time to the database, ms. */
  readonly wayMs: number;
}

interface Unit {
  readonly account: number;
  readonly done: () => void;
}

/** Interval between two transactions of a writer (src/edge/store/pace.ts), and maximum units per transaction (executor.ts). */
const GAP_MS = 2;
const MOST = 1000;

export class LedgerModel {
  readonly #sim: Simulator;
  readonly #costs: LedgerCosts;
  readonly #locks = new Map<number, Array<() => void>>();
  transactions = 0;
  units = 0;

  constructor(sim: Simulator, costs: LedgerCosts) {
    this.#sim = sim;
    this.#costs = costs;
  }

  writer(database: Servers, client: Servers): (unit: Unit) => void {
    const waiting: Unit[] = [];
    let isBusy = false;
    let lastMs = Number.NEGATIVE_INFINITY;
    const turn = (): void => {
      const pauseMs = Math.max(0, lastMs + GAP_MS - this.#sim.nowMs);
      this.#sim.after(pauseMs, () => {
        lastMs = this.#sim.nowMs;
        const batch = waiting.splice(0, MOST);
        this.#commit(batch, database, client, () => {
          for (const { done } of batch) done();
          if (waiting.length > 0) turn();
          else isBusy = false;
        });
      });
    };
    return (unit) => {
      waiting.push(unit);
      if (isBusy) return;
      isBusy = true;
      turn();
    };
  }

  #commit(batch: readonly Unit[], database: Servers, client: Servers, done: () => void): void {
    const { transactionMs, unitMs, accountMs, clientMs, syncMs, wayMs } = this.#costs;
    const accounts = [...new Set(batch.map(({ account }) => account))].sort((a, b) => a - b);
    this.transactions += 1;
    this.units += batch.length;
    const commit = (): void => {
      for (const account of accounts) this.#unlock(account);
      done();
    };
    const work = (): void => {
      const workMs = transactionMs + batch.length * unitMs + accounts.length * accountMs;
      database.serve(workMs, () => this.#sim.after(syncMs, commit));
    };
    client.serve(batch.length * clientMs, () =>
      this.#sim.after(wayMs, () => this.#lock(accounts, 0, work)),
    );
  }

  /** Always in the same order (postgres/locks.ts). */
  #lock(accounts: readonly number[], at: number, locked: () => void): void {
    const account = accounts[at];
    if (account === undefined) {
      locked();
      return;
    }
    const goOn = (): void => this.#lock(accounts, at + 1, locked);
    const queue = this.#locks.get(account);
    if (queue === undefined) {
      this.#locks.set(account, []);
      goOn();
    } else queue.push(goOn);
  }

  #unlock(account: number): void {
    const next = this.#locks.get(account)?.shift();
    if (next === undefined) this.#locks.delete(account);
    else next();
  }
}
