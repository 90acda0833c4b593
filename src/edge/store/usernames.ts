import { type Connection, string } from './connection.ts';
import type { Unit } from './unit.ts';

/** Maximum number of endpoints whose usernames are cached. With more endpoints, the table is queried instead. */
const LIMIT = 200_000;

/**
 * Caches the usernames of all endpoints. Each call from a carrier looks up its caller's number, which is rarely a username;
 * the cache avoids that query. Names are added before their write and never removed, so the cache may contain extra names but
 * misses none. Requires that no other process writes to the database.
 */
export class Usernames {
  #known: Set<string> | undefined;

  constructor(db: Connection) {
    const rows = db.all('SELECT username FROM endpoint LIMIT ?', [LIMIT + 1]);
    if (rows.length <= LIMIT) this.#known = new Set(rows.map((row) => string(row, 'username')));
  }

  /** Adds the usernames in these units, which are about to be written. */
  written(units: readonly Unit[]): void {
    for (const { repository, operation, given } of units)
      if (repository === 'endpoints' && operation === 'insert')
        this.#add((given[0] as { readonly username: string }).username);
  }

  /** Returns whether the unit looks up a username that no endpoint has. */
  isNobody({ repository, operation, given }: Unit): boolean {
    if (repository !== 'endpointDirectory' || operation !== 'byUsername') return false;
    return this.#known?.has(String(given[0])) === false;
  }

  #add(username: string): void {
    this.#known?.add(username);
    if ((this.#known?.size ?? 0) > LIMIT) this.#known = undefined;
  }
}
