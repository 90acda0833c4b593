/** A connection, or a socket that may become one. */
export interface Guest {
  /** Address of the peer as reported by its socket. */
  readonly host: string;
  close(why: string): void;
}

/**
 * Accepted connections of unknown peers, oldest first. At a limit, the oldest is closed for a new one, so idle
 * connections cannot block others. Connections of known peers and carriers are kept.
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

  /** Closes the oldest connection of that host, or of all. Returns false if there is none. */
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
