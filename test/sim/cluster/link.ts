/** Connection between a process and a server: has latency, keeps the order, and may be cut. */
import type { SimRandom } from '../random.ts';
import type { NodeClock } from './node-clock.ts';

/** Random properties of each transmission. */
export interface WayWeather {
  /** One-way latency in milliseconds, uniform between the two values. */
  readonly delayMs: readonly [from: number, to: number];
  /** Share of responses that are lost after the server has carried out the request. */
  readonly unanswered: number;
}

export class Way {
  /** True while the network is cut. */
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

  /**
   * Sends a request and returns its response. Rejects with `lost` if the connection is cut or no response arrives
   * within `timeoutMs`.
   */
  async ask<T>(
    act: () => Promise<T>,
    { lost, timeoutMs }: { readonly lost: () => Error; readonly timeoutMs: number },
  ): Promise<T> {
    await this.#travel();
    if (this.isCut) {
      await this.#clock.sleep(this.#random.between(1, timeoutMs));
      throw lost();
    }
    const answer = await act().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    const isLost = this.isCut || this.#random.chance(this.#weather.unanswered);
    if (isLost) await this.#clock.sleep(this.#random.between(1, timeoutMs));
    else await this.#travel();
    if (isLost) throw lost();
    if ('error' in answer) throw answer.error;
    return answer.value;
  }

  /** Delays a message while keeping the order. */
  #travel(): Promise<void> {
    const [from, to] = this.#weather.delayMs;
    const nowMs = this.#clock.monotonicMs();
    this.#lastMs = Math.max(this.#lastMs, nowMs + this.#random.between(from, to));
    return this.#clock.sleep(this.#lastMs - nowMs);
  }
}
