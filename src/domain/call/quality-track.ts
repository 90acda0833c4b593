import type { MediaQuality } from '../../base/media-quality.ts';

/** Media quality of a call at `atUs`. Counters start with the call. */
export interface QualitySample extends MediaQuality {
  readonly atUs: number;
}

/** Quality samples of one call in bounded memory. A full track drops every second sample and halves its sampling rate. */
export class QualityTrack {
  static readonly MAX_SAMPLES = 120;
  readonly #samples: QualitySample[] = [];
  /** Sampling stride: one in `#stride` offered samples is kept. */
  #stride = 1;
  #offered = 0;

  /** Offers a sample. Called every 5 s. */
  add(sample: QualitySample): void {
    this.#offered += 1;
    if ((this.#offered - 1) % this.#stride !== 0) return;
    this.#samples.push(sample);
    if (this.#samples.length < QualityTrack.MAX_SAMPLES) return;
    const retained = this.#samples.filter((_, index) => index % 2 === 0);
    this.#samples.splice(0, Number.POSITIVE_INFINITY, ...retained);
    this.#stride *= 2;
  }

  /** Adds the final sample, regardless of the stride. */
  end(sample: QualitySample): void {
    this.#samples.push(sample);
  }

  /** Samples, oldest first. */
  samples(): readonly QualitySample[] {
    return this.#samples;
  }
}
