import { err, ok, type Result } from '../../base/result.ts';
import { resampler, toPcm16 } from '../../protocol/audio-file/audio-file.ts';

const MAX_HEAD_BYTES = 4096;

/** Reads a WAV stream (16-bit mono, length unknown) and resamples it to another rate. */
export class WavStream {
  readonly #rate: number;
  #head: Buffer = Buffer.alloc(0);
  #odd: Buffer = Buffer.alloc(0);
  #convert: ReturnType<typeof resampler> | undefined;

  constructor(rate: number) {
    this.#rate = rate;
  }

  /** Whether the header was complete. */
  get hasBegun(): boolean {
    return this.#convert !== undefined;
  }

  /** Adds bytes of the file and returns little-endian int16 samples. */
  push(bytes: Uint8Array): Result<Uint8Array, string> {
    if (this.#convert !== undefined) return ok(this.#samples(this.#convert, bytes));
    this.#head = Buffer.concat([this.#head, bytes]);
    const found = dataOf(this.#head);
    if (!found.ok) return found;
    if (found.value === undefined) {
      return this.#head.length > MAX_HEAD_BYTES ? err('no WAV file') : ok(new Uint8Array(0));
    }
    this.#convert = resampler(found.value.rate, this.#rate);
    return ok(this.#samples(this.#convert, this.#head.subarray(found.value.at)));
  }

  finish(): Uint8Array {
    return this.#convert === undefined ? new Uint8Array(0) : toPcm16(this.#convert.finish());
  }

  #samples(convert: ReturnType<typeof resampler>, bytes: Uint8Array): Uint8Array {
    const whole = Buffer.concat([this.#odd, bytes]);
    const count = whole.length >> 1;
    this.#odd = whole.subarray(count * 2);
    const samples = new Float32Array(count);
    for (let i = 0; i < count; i += 1) samples[i] = whole.readInt16LE(i * 2) / 32_768;
    return toPcm16(convert.push(samples));
  }
}

/** Returns the offset and rate of the samples, or undefined while the header is incomplete. */
function dataOf(
  head: Buffer,
): Result<{ readonly at: number; readonly rate: number } | undefined, string> {
  if (head.length < 12) return ok(undefined);
  if (head.toString('latin1', 0, 4) !== 'RIFF' || head.toString('latin1', 8, 12) !== 'WAVE') {
    return err('no WAV file');
  }
  let rate = 0;
  for (let at = 12; at + 8 <= head.length; ) {
    const name = head.toString('latin1', at, at + 4);
    if (name === 'data') return rate === 0 ? err('no format') : ok({ at: at + 8, rate });
    const length = head.readUInt32LE(at + 4);
    if (name === 'fmt ' && at + 24 <= head.length) {
      if (head.readUInt16LE(at + 10) !== 1 || head.readUInt16LE(at + 22) !== 16) {
        return err('not 16-bit mono');
      }
      rate = head.readUInt32LE(at + 12);
    }
    at += 8 + length + (length % 2);
  }
  return ok(undefined);
}
