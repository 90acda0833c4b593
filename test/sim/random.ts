import type { Random } from '../../src/base/ids.ts';

/** Seeded random generator (mulberry32): the same seed gives the same world. */
export class SimRandom implements Random {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed ^ 0x9e37_79b9) >>> 0;
  }

  /** Uniform in [0, 1). */
  share(): number {
    this.#state = (this.#state + 0x6d2b_79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  integer(below: number): number {
    return Math.floor(this.share() * below);
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.integer(256));
  }

  /** Uniform integer in [from, to], both included. */
  between(from: number, to: number): number {
    return from + this.integer(to - from + 1);
  }

  chance(share: number): boolean {
    return this.share() < share;
  }

  pick<T>(choices: readonly T[]): T {
    const chosen = choices[this.integer(choices.length)];
    if (chosen === undefined) throw new Error('nothing to choose from');
    return chosen;
  }

  /** Derives an independent generator, so that one part of a world does not affect the random numbers of another. */
  fork(): SimRandom {
    return new SimRandom(this.integer(2 ** 31));
  }
}
