/** Mutates byte strings from a seed. The same seed produces the same inputs on every machine. */
const EDGES = [0, 1, 0x7f, 0x80, 0xfe, 0xff, 0x0a, 0x0d];
const LONGEST = 64 * 1024;

export class Mutator {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Applies a few mutations to one of the seeds, possibly with a part of another. */
  next(seeds: readonly Uint8Array[]): Uint8Array {
    let out = this.#pick(seeds);
    for (let changes = 1 + this.below(6); changes > 0; changes -= 1) out = this.#change(out, seeds);
    return out.slice(0, LONGEST);
  }

  /** Returns an integer from 0 to `limit` - 1 (mulberry32, T. Ettinger). */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let z = this.#state;
    z = Math.imul(z ^ (z >>> 15), z | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return ((z ^ (z >>> 14)) >>> 0) % Math.max(1, limit);
  }

  #pick(seeds: readonly Uint8Array[]): Uint8Array {
    return seeds[this.below(seeds.length)] ?? new Uint8Array(0);
  }

  #change(input: Uint8Array, seeds: readonly Uint8Array[]): Uint8Array {
    const at = this.below(input.length + 1);
    const [before, after] = [input.subarray(0, at), input.subarray(at)];
    const copy = Uint8Array.from(input);
    switch (this.below(8)) {
      case 0:
        if (at < copy.length) copy[at] = (copy[at] ?? 0) ^ (1 << this.below(8));
        return copy;
      case 1:
        if (at < copy.length) copy[at] = EDGES[this.below(EDGES.length)] ?? 0;
        return copy;
      case 2:
        if (at < copy.length) copy[at] = this.below(256);
        return copy;
      case 3:
        return joined(before, new Uint8Array(1 + this.below(16)).fill(this.below(256)), after);
      case 4:
        return joined(before, after.subarray(this.below(Math.min(after.length, 32) + 1)));
      case 5:
        return this.below(4) === 0 ? Uint8Array.from(before) : copy;
      case 6:
        return joined(input, after.subarray(0, this.below(Math.min(after.length, 64) + 1)));
      default: {
        const other = this.#pick(seeds);
        return joined(before, other.subarray(this.below(other.length + 1)));
      }
    }
  }
}

const joined = (...parts: readonly Uint8Array[]): Uint8Array =>
  Uint8Array.from(Buffer.concat(parts));
