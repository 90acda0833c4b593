/** A connection, or what may become one. */
export interface Guest {
  /** Address of the peer as its socket shows it. */
  readonly host: string;
  close(why: string): void;
}

/**
 * Accepted connections of unknown peers, oldest first. When a limit is reached, the oldest is closed in favour of a new
 * one, so that idle connections keep nobody out. Connections of known peers and carriers stay.
 */
export class UnknownPeers<G extends Guest> {
  readonly #isKnown: (guest: G) => boolean;
  readonly #all = new Set<G>();
  readonly #byHost = new Map<string, Set<G>>();

  constructor(isKnown: (guest: G) => boolean) {
    this.#isKnown = isKnown;
  }

  add(guest: G): void {
    this.#all.add(guest);
    const siblings = this.#byHost.get(guest.host) ?? new Set();
    this.#byHost.set(guest.host, siblings.add(guest));
  }

  remove(guest: G): void {
    this.#all.delete(guest);
    const siblings = this.#byHost.get(guest.host);
    siblings?.delete(guest);
    if (siblings?.size === 0) this.#byHost.delete(guest.host);
  }

  /** Of that host, or of all. False: there is none. */
  closeOldest(why: string, host?: string): boolean {
    const among = host === undefined ? this.#all : (this.#byHost.get(host) ?? []);
    for (const guest of among) {
      if (this.#isKnown(guest)) {
        this.remove(guest);
        continue;
      }
      guest.close(why);
      return true;
    }
    return false;
  }
}
