/** The audio path (RFC 4733 or tones) or SIP INFO. */
export type DtmfMethod = 'media' | 'signalling';

/** The two reports of one press lie no further apart: INFO is often sent when the key goes up. */
const SAME_PRESS_MS = 800;
/** Presses of one way that wait for their twin. */
const MAX_UNPAIRED = 16;

interface Press {
  readonly digit: string;
  readonly way: DtmfMethod;
  readonly atMs: number;
}

/** Some phones send each press both in the audio and by SIP INFO: it counts once. One that uses one way is never affected. */
export class DtmfDeduplication {
  #unpaired: readonly Press[] = [];

  /** False: the twin of a press that was told already. */
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
