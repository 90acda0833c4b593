import type { MediaQuality } from '../../base/media-quality.ts';

/** How a call sounded up to a moment: the figures count from its beginning. */
export interface QualitySample extends MediaQuality {
  readonly atUs: number;
}

/**
 * Samples of one call over its whole length in bounded memory: when it is full, every other one goes, and half as many are
 * taken from then on.
 */
export class QualityTrack {
  static readonly MAX_SAMPLES = 120;
  readonly #samples: QualitySample[] = [];
  /** One of so many is kept. */
  #stride = 1;
  #offered = 0;

  /** Every five seconds. */
  add(sample: QualitySample): void {
    this.#offered += 1;
    if ((this.#offered - 1) % this.#stride !== 0) return;
    this.#samples.push(sample);
    if (this.#samples.length < QualityTrack.MAX_SAMPLES) return;
    const kept = this.#samples.filter((_, index) => index % 2 === 0);
    this.#samples.splice(0, Number.POSITIVE_INFINITY, ...kept);
    this.#stride *= 2;
  }

  /** The last one of a call that has ended, whatever the stride. */
  end(sample: QualitySample): void {
    this.#samples.push(sample);
  }

  /** Oldest first. */
  samples(): readonly QualitySample[] {
    return this.#samples;
  }
}
