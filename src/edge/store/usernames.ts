import { type Connection, string } from './connection.ts';
import type { Unit } from './unit.ts';

/** Endpoints of which the names are remembered; where there are more, the table is asked. */
const LIMIT = 200_000;

/**
 * The usernames of all endpoints. A carrier's call is looked up by its caller's number, which most often is nobody's username: what
 * is not here need not be asked for. Names are added before they are written and stay when they go, so that one may be here and not
 * in the table, but never the other way round. Of a database that no other process writes.
 */
export class Usernames {
  #known: Set<string> | undefined;

  constructor(db: Connection) {
    const rows = db.all('SELECT username FROM endpoint LIMIT ?', [LIMIT + 1]);
    if (rows.length <= LIMIT) this.#known = new Set(rows.map((row) => string(row, 'username')));
  }

  /** These are about to be written. */
  written(units: readonly Unit[]): void {
    for (const { repository, operation, given } of units)
      if (repository === 'endpoints' && operation === 'insert')
        this.#add((given[0] as { readonly username: string }).username);
  }

  /** Asks for a username that no endpoint has. */
  isNobody({ repository, operation, given }: Unit): boolean {
    if (repository !== 'endpointDirectory' || operation !== 'byUsername') return false;
    return this.#known?.has(String(given[0])) === false;
  }

  #add(username: string): void {
    this.#known?.add(username);
    if ((this.#known?.size ?? 0) > LIMIT) this.#known = undefined;
  }
}
