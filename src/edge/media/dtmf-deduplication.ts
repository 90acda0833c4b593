/** Source of a digit: the audio path (RFC 4733 or tones) or SIP INFO. */
export type DtmfMethod = 'media' | 'signalling';

/** Maximum time between two reports of one key press, in milliseconds. INFO is often sent when the key is released. */
const SAME_PRESS_MS = 800;
/** Maximum number of digits from one source that wait for the report of the other. */
const MAX_UNPAIRED = 16;

interface Press {
  readonly digit: string;
  readonly way: DtmfMethod;
  readonly atMs: number;
}

/**
 * Removes duplicate digits of phones that send each key press both in the audio and by SIP INFO. Phones with one source
 * are not affected.
 */
export class DtmfDeduplication {
  #unpaired: readonly Press[] = [];

  /** Returns false for the second report of a digit already reported. */
  isNew(digit: string, way: DtmfMethod, atMs: number): boolean {
    const recent = this.#unpaired.filter((press) => atMs - press.atMs < SAME_PRESS_MS);
    const twin = recent.find((press) => press.digit === digit && press.way !== way);
    this.#unpaired =
      twin === undefined
        ? [...recent, { digit, way, atMs }].slice(-MAX_UNPAIRED)
        : recent.filter((press) => press !== twin);
    return twin === undefined;
  }
}
