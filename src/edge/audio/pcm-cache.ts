import type { Pcm } from '../../domain/call/needs.ts';

export interface CachedPcm {
  readonly pcm: Pcm;
  readonly etag: string | undefined;
  /** Monotonic; until then it is played without asking the customer's server. */
  readonly freshUntilMs: number;
}

/** Decoded audio by URL, the least recently used dropped first, in bounded memory. */
export class PcmCache {
  readonly #maxBytes: number;
  /** In order of use, oldest first. */
  readonly #entries = new Map<string, CachedPcm>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(url: string): CachedPcm | undefined {
    const entry = this.#entries.get(url);
    if (entry !== undefined) {
      this.#entries.delete(url);
      this.#entries.set(url, entry);
    }
    return entry;
  }

  set(url: string, entry: CachedPcm): void {
    this.#drop(url);
    const size = entry.pcm.samples.length;
    if (size > this.#maxBytes) return;
    this.#entries.set(url, entry);
    this.#bytes += size;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#drop(oldest);
    }
  }

  #drop(url: string): void {
    this.#bytes -= this.#entries.get(url)?.pcm.samples.length ?? 0;
    this.#entries.delete(url);
  }
}
