import { ConversionError } from './conversion.ts';

const FIRST_CAPACITY = 256 * 1024;

/** A PCM buffer that grows up to a limit. */
export class PcmSink {
  readonly #maxBytes: number;
  readonly #maxMs: number;
  #buffer = new Uint8Array(FIRST_CAPACITY);
  #length = 0;

  constructor(rate: number, maxMs: number) {
    this.#maxMs = maxMs;
    this.#maxBytes = (rate * maxMs * 2) / 1000;
  }

  write(bytes: Uint8Array): void {
    const needed = this.#length + bytes.length;
    if (needed > this.#maxBytes) {
      throw new ConversionError('tooLarge', `longer than ${this.#maxMs / 1000} s`);
    }
    if (needed > this.#buffer.length) {
      const grown = new Uint8Array(Math.max(needed, this.#buffer.length * 2));
      grown.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = grown;
    }
    this.#buffer.set(bytes, this.#length);
    this.#length = needed;
  }

  /** Returns a copy of exactly the written size. */
  bytes(): Uint8Array {
    return this.#buffer.slice(0, this.#length);
  }
}
