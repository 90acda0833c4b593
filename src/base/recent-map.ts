/**
 * A bounded map of recently used keys, suitable for keys from the network. Keeps at most `most` entries. Each entry
 * survives at least `most / 2` further insertions. Two generations replace an LRU list, so that eviction is cheap.
 */
export class RecentMap<V> {
  readonly #half: number;
  #young = new Map<string, V>();
  #old = new Map<string, V>();

  constructor(most: number) {
    this.#half = Math.max(1, Math.floor(most / 2));
  }

  /** Number of entries. A recently used entry may count twice. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(key: string): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: string, value: V): void {
    if (this.#young.size >= this.#half && !this.#young.has(key)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }

  delete(key: string): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }
}
