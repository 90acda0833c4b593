/** The way between a process and a server: takes a while, keeps the order, and may be cut. */
import type { SimRandom } from '../random.ts';
import type { NodeClock } from './node-clock.ts';

/** Chance, of each thing that goes this way. */
export interface WayWeather {
  /** One way, milliseconds, uniform between the two. */
  readonly delayMs: readonly [from: number, to: number];
  /** Share of answers that never come, although the server has done what was asked. */
  readonly unanswered: number;
}

export class Way {
  /** The network: nothing passes. */
  isCut = false;
  readonly #clock: NodeClock;
  readonly #random: SimRandom;
  readonly #weather: WayWeather;
  #lastMs = 0;

  constructor(clock: NodeClock, random: SimRandom, weather: WayWeather) {
    this.#clock = clock;
    this.#random = random;
    this.#weather = weather;
  }

  /** There and back. Rejects with `lost` when the way is cut, or the answer does not come within `patienceMs`. */
  async ask<T>(
    act: () => Promise<T>,
    { lost, patienceMs }: { readonly lost: () => Error; readonly patienceMs: number },
  ): Promise<T> {
    await this.#travel();
    if (this.isCut) {
      await this.#clock.sleep(this.#random.between(1, patienceMs));
      throw lost();
    }
    const answer = await act().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    const isLost = this.isCut || this.#random.chance(this.#weather.unanswered);
    if (isLost) await this.#clock.sleep(this.#random.between(1, patienceMs));
    else await this.#travel();
    if (isLost) throw lost();
    if ('error' in answer) throw answer.error;
    return answer.value;
  }

  /** Who set out later arrives later. */
  #travel(): Promise<void> {
    const [from, to] = this.#weather.delayMs;
    const nowMs = this.#clock.monotonicMs();
    this.#lastMs = Math.max(this.#lastMs, nowMs + this.#random.between(from, to));
    return this.#clock.sleep(this.#lastMs - nowMs);
  }
}
