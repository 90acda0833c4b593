import type { Random } from '../../base/ids.ts';

/** Quarantine of a port in milliseconds, so that late packets of one call are not heard in another. */
const QUARANTINE_MS = 30_000;
/** Shortened quarantine in milliseconds when all other ports are used. The port released first is reused first. */
const LEAST_REST_MS = 5000;

/** Even RTP ports of a range, assigned randomly (media design, symmetric RTP). The odd ports are reserved for RTCP. */
export class PortPool {
  readonly #free: number[] = [];
  /** Released ports by quarantine time. */
  readonly #resting = new Map<number, Resting>();
  readonly #random: Random;

  /** `taken` is a port with its pair that is used otherwise. */
  constructor(min: number, max: number, random: Random, taken?: number) {
    for (let port = min + (min % 2); port <= max; port += 2) {
      if (port !== taken && port + 1 !== taken) this.#free.push(port);
    }
    this.#random = random;
  }

  /** Number of ports available at `nowMs` (monotonic). */
  available(nowMs: number): number {
    this.#wakeUp(nowMs);
    let available = this.#free.length;
    for (const resting of this.#resting.values()) {
      available += resting.rested(nowMs - LEAST_REST_MS);
    }
    return available;
  }

  take(nowMs: number): number | undefined {
    this.#wakeUp(nowMs);
    if (this.#free.length === 0) return this.#takeEarly(nowMs);
    const index = this.#random.integer(this.#free.length);
    const port = this.#free[index];
    const last = this.#free.pop();
    if (last !== undefined && index < this.#free.length) this.#free[index] = last;
    return port;
  }

  giveBack(port: number, nowMs: number, restMs = QUARANTINE_MS): void {
    let resting = this.#resting.get(restMs);
    if (resting === undefined) {
      resting = new Resting();
      this.#resting.set(restMs, resting);
    }
    resting.add(port, nowMs);
  }

  #wakeUp(nowMs: number): void {
    for (const [restMs, resting] of this.#resting) {
      for (let due = resting.rested(nowMs - restMs); due > 0; due -= 1) {
        const port = resting.takeOldest();
        if (port !== undefined) this.#free.push(port);
      }
    }
  }

  #takeEarly(nowMs: number): number | undefined {
    let oldest: Resting | undefined;
    for (const resting of this.#resting.values()) {
      if (resting.rested(nowMs - LEAST_REST_MS) === 0) continue;
      if (oldest === undefined || resting.sinceMs < oldest.sinceMs) oldest = resting;
    }
    return oldest?.takeOldest();
  }
}

/** Ports with the same quarantine time, oldest first. */
class Resting {
  #ports: { readonly port: number; readonly sinceMs: number }[] = [];
  /** Index of the first port still in quarantine. */
  #first = 0;

  /** Release time of the oldest port, or Infinity if there is none. */
  get sinceMs(): number {
    return this.#ports[this.#first]?.sinceMs ?? Number.POSITIVE_INFINITY;
  }

  add(port: number, nowMs: number): void {
    this.#ports.push({ port, sinceMs: nowMs });
  }

  /** Number of ports released at or before `untilMs`. */
  rested(untilMs: number): number {
    let low = this.#first;
    let high = this.#ports.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ports[middle]?.sinceMs ?? 0) <= untilMs) low = middle + 1;
      else high = middle;
    }
    return low - this.#first;
  }

  takeOldest(): number | undefined {
    const oldest = this.#ports[this.#first];
    if (oldest === undefined) return undefined;
    this.#first += 1;
    // Compact the array only when half of it is unused.
    if (this.#first * 2 > this.#ports.length) {
      this.#ports = this.#ports.slice(this.#first);
      this.#first = 0;
    }
    return oldest.port;
  }
}
