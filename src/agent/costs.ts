/** Cost of a conversation in millionths of the currency of the file's prices. */
import type { AgentFile } from './agent-file.ts';
import type { Usage } from './model/model.ts';

type Prices = AgentFile['prices'];

const MILLION = 1_000_000;
const MINUTE_MS = 60_000;

/** Converts an amount from the file to millionths. */
export const millionths = (amount: number): number => Math.round(amount * MILLION);

/** Adds up the usage of one call. Prices of tokens are per million tokens. */
export class Costs {
  readonly #prices: Prices;
  /** Sum of tokens times price: millionths of millionths. */
  #tokens = 0n;

  constructor(prices: Prices) {
    this.#prices = prices;
  }

  add(usage: Usage): void {
    for (const kind of ['audioInput', 'audioOutput', 'textInput', 'textOutput'] as const) {
      this.#tokens += BigInt(usage[kind]) * BigInt(millionths(this.#prices[kind] ?? 0));
    }
  }

  /** Cost so far, rounded up. */
  total(durationMs: number): number {
    const tokens = Number((this.#tokens + BigInt(MILLION - 1)) / BigInt(MILLION));
    const minutes = Math.ceil((durationMs * millionths(this.#prices.minute ?? 0)) / MINUTE_MS);
    return tokens + minutes;
  }
}
