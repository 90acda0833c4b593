import type { Pcm } from '../../domain/call/needs.ts';

export interface CachedPcm {
  readonly pcm: Pcm;
  readonly etag: string | undefined;
  /** Monotonic time until which the audio is played without revalidation, ms. */
  readonly freshUntilMs: number;
}

/** A memory-bounded LRU cache of decoded audio by rate and URL. */
export class PcmCache {
  readonly #maxBytes: number;
  /** Entries in order of use, oldest first. */
  readonly #entries = new Map<string, CachedPcm>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): CachedPcm | undefined {
    const entry = this.#entries.get(key);
    if (entry !== undefined) {
      this.#entries.delete(key);
      this.#entries.set(key, entry);
    }
    return entry;
  }

  set(key: string, entry: CachedPcm): void {
    this.#drop(key);
    const size = entry.pcm.samples.length;
    if (size > this.#maxBytes) return;
    this.#entries.set(key, entry);
    this.#bytes += size;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#bytes -= this.#entries.get(key)?.pcm.samples.length ?? 0;
    this.#entries.delete(key);
  }
}
