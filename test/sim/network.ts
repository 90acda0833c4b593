/** Network between the media engine and the phones: randomly loses, delays, reorders and repeats packets. */
import type { ManualDrive } from '../../src/edge/media/engine.ts';
import type { SimRandom } from './random.ts';

export interface Place {
  readonly address: string;
  readonly port: number;
}

export interface Weather {
  /** Share of lost packets. */
  readonly loss: number;
  /** Share of packets delivered twice. */
  readonly repeated: number;
  /** One-way latency in milliseconds, uniform between the two values. A span above 20 ms reorders packets. */
  readonly delayMs: readonly [from: number, to: number];
}

const FAIR: Weather = { loss: 0, repeated: 0, delayMs: [1, 1] };
export const ROUGH: Weather = { loss: 0.02, repeated: 0.01, delayMs: [5, 30] };

interface Travelling {
  readonly dueMs: number;
  readonly order: number;
  readonly arrive: () => void;
}

export class SimNetwork {
  weather: Weather = FAIR;
  readonly #drive: ManualDrive;
  readonly #random: SimRandom;
  readonly #listeners = new Map<string, (bytes: Uint8Array) => void>();
  #travelling: Travelling[] = [];
  #order = 0;

  constructor(drive: ManualDrive, random: SimRandom) {
    this.#drive = drive;
    this.#random = random;
  }

  /** Delivers packets for `place` to `receive`; undefined removes the receiver. */
  listen(place: Place, receive: ((bytes: Uint8Array) => void) | undefined): void {
    if (receive === undefined) this.#listeners.delete(key(place));
    else this.#listeners.set(key(place), receive);
  }

  /** Sends a packet from a phone to the service. */
  send(from: Place, toPort: number, bytes: Uint8Array): void {
    this.#post(() => this.#drive.inject(toPort, from, bytes));
  }

  /** Reads the packets sent by the service, and delivers due packets in both directions. */
  step(): void {
    for (const { address, port, bytes } of this.#drive.drain()) {
      this.#post(() => this.#listeners.get(key({ address, port }))?.(bytes));
    }
    const nowMs = this.#drive.nowMs();
    const due = this.#travelling.filter(({ dueMs }) => dueMs <= nowMs);
    if (due.length === 0) return;
    this.#travelling = this.#travelling.filter(({ dueMs }) => dueMs > nowMs);
    due.sort((a, b) => a.dueMs - b.dueMs || a.order - b.order);
    for (const { arrive } of due) arrive();
  }

  #post(arrive: () => void): void {
    const { loss, repeated, delayMs } = this.weather;
    if (this.#random.chance(loss)) return;
    const copies = this.#random.chance(repeated) ? 2 : 1;
    for (let copy = 0; copy < copies; copy += 1) {
      const dueMs = this.#drive.nowMs() + this.#random.between(delayMs[0], delayMs[1]);
      this.#travelling.push({ dueMs, order: this.#order++, arrive });
    }
  }
}

const key = ({ address, port }: Place): string => `${address}:${port}`;
