import type { Random } from '../../base/ids.ts';

/** A port rests so long before its next use, so that a late packet of one call is never heard in another. */
const QUARANTINE_MS = 30_000;

/** Even RTP ports of a range, handed out at random (media design, symmetric RTP). The odd ones stay free for RTCP. */
export class PortPool {
  readonly #free: number[] = [];
  /** By how long they rest; oldest first. */
  readonly #resting = new Map<number, { readonly port: number; readonly untilMs: number }[]>();
  readonly #random: Random;

  constructor(min: number, max: number, random: Random) {
    for (let port = min + (min % 2); port <= max; port += 2) this.#free.push(port);
    this.#random = random;
  }

  /** Ports that may be taken at `nowMs` (monotonic). */
  available(nowMs: number): number {
    this.#wakeUp(nowMs);
    return this.#free.length;
  }

  take(nowMs: number): number | undefined {
    this.#wakeUp(nowMs);
    if (this.#free.length === 0) return undefined;
    const index = this.#random.integer(this.#free.length);
    const port = this.#free[index];
    const last = this.#free.pop();
    if (last !== undefined && index < this.#free.length) this.#free[index] = last;
    return port;
  }

  giveBack(port: number, nowMs: number, restMs = QUARANTINE_MS): void {
    const alike = this.#resting.get(restMs) ?? [];
    this.#resting.set(restMs, alike);
    alike.push({ port, untilMs: nowMs + restMs });
  }

  #wakeUp(nowMs: number): void {
    for (const alike of this.#resting.values()) {
      let due = 0;
      for (const { untilMs } of alike) {
        if (untilMs > nowMs) break;
        due += 1;
      }
      for (const { port } of alike.splice(0, due)) this.#free.push(port);
    }
  }
}
