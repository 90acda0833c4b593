/**
 * Tracks uses of pool numbers that are not final. A use is reserved while its call is being placed. It is open from
 * the stored start of the attempt until the called party has reacted; until then the call may be refused and the use
 * returned.
 */

/** One use of a pool number by one call. */
export interface PoolUse {
  /** ID of the pool number. */
  readonly id: string;
  readonly number: string;
  /** Time of the choice, microseconds UTC. */
  readonly chosenUs: number;
}

export class PoolHolds {
  readonly #reserved = new Set<PoolUse>();
  readonly #open = new Set<PoolUse>();

  /** True if no use can be returned any more. */
  get isEmpty(): boolean {
    return this.#reserved.size + this.#open.size === 0;
  }

  /** Returns the number of the pool number's uses whose attempt is not stored yet. */
  reservedOf(id: string): number {
    let count = 0;
    for (const use of this.#reserved) if (use.id === id) count += 1;
    return count;
  }

  /** Returns when the number was last reserved, microseconds UTC. Undefined without a reservation. */
  lastChosenUs(id: string): number | undefined {
    let lastUs: number | undefined;
    for (const use of this.#reserved) {
      if (use.id === id) lastUs = Math.max(lastUs ?? 0, use.chosenUs);
    }
    return lastUs;
  }

  reserve(use: PoolUse): void {
    this.#reserved.add(use);
  }

  /** Called once the attempt is stored. The store counts the use from then on. */
  begun(use: PoolUse): void {
    this.#reserved.delete(use);
    this.#open.add(use);
  }

  /** Called when the use is final or was returned. Returns false if it was released before. */
  release(use: PoolUse): boolean {
    return this.#reserved.delete(use) || this.#open.delete(use);
  }
}
