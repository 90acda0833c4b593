/**
 * Uses of a pool's numbers that are not final. A use is reserved while its call is being placed, and open from the stored
 * beginning of the attempt until the far end has reacted: until then the call may still be refused, and the use returned.
 */

/** One use of a pool number by one call. */
export interface PoolUse {
  /** ID of the pool number. */
  readonly id: string;
  readonly number: string;
  /** Moment of the choice, microseconds UTC. */
  readonly chosenUs: number;
}

export class PoolHolds {
  readonly #reserved = new Set<PoolUse>();
  readonly #open = new Set<PoolUse>();

  /** Returns true if no use can still be returned. */
  get isEmpty(): boolean {
    return this.#reserved.size + this.#open.size === 0;
  }

  /** Counts the number's uses whose attempt is not stored yet. */
  reservedOf(id: string): number {
    let count = 0;
    for (const use of this.#reserved) if (use.id === id) count += 1;
    return count;
  }

  /** Returns when the number was last reserved, in microseconds UTC, or undefined without a reservation. */
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

  /** The attempt is stored: the store counts the use from now on. */
  begun(use: PoolUse): void {
    this.#reserved.delete(use);
    this.#open.add(use);
  }

  /** The use is final, or was returned. Returns false if it was released before. */
  release(use: PoolUse): boolean {
    return this.#reserved.delete(use) || this.#open.delete(use);
  }
}
