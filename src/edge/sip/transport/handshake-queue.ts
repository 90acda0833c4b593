import type { Clock } from '../../../base/clock.ts';

export interface HandshakeQueueOptions {
  readonly clock: Pick<Clock, 'monotonicMs' | 'at'>;
  /** Of all sources together. */
  readonly perSecond: number;
  /** Calls back in the loop's next turn. Default: setImmediate. */
  readonly later?: (work: () => void) => void;
}

interface Waiting {
  readonly begin: () => void;
}

/** Handshakes that may begin at once after a quiet time, in parts of a second's. */
const BURST = 1 / 10;

/**
 * Handshakes of TLS that wait for their turn: one of each turn of the event loop, so many a second. Carriers come first, then
 * one of each source after the other, so that whoever opens connections by the thousand delays its own.
 */
export class HandshakeQueue {
  readonly #options: HandshakeQueueOptions;
  readonly #first: Waiting[] = [];
  /** By source; the one that is next comes first. */
  readonly #others = new Map<string, Waiting[]>();
  #tokens: number;
  #atMs: number;
  #armed = false;
  #size = 0;

  constructor(options: HandshakeQueueOptions) {
    this.#options = options;
    this.#tokens = this.#burst;
    this.#atMs = options.clock.monotonicMs();
  }

  get size(): number {
    return this.#size;
  }

  /** `begin` is called once, in a later turn, unless the returned function is called before. */
  add(source: string, isCarrier: boolean, begin: () => void): () => void {
    const waiting = { begin };
    const line = isCarrier ? this.#first : (this.#others.get(source) ?? []);
    if (!isCarrier && line.length === 0) this.#others.set(source, line);
    line.push(waiting);
    this.#size += 1;
    this.#arm();
    return () => {
      const at = line.indexOf(waiting);
      if (at === -1) return;
      line.splice(at, 1);
      this.#size -= 1;
      if (line.length === 0 && this.#others.get(source) === line) this.#others.delete(source);
    };
  }

  get #burst(): number {
    return Math.max(1, this.#options.perSecond * BURST);
  }

  #arm(): void {
    if (this.#armed || this.#size === 0) return;
    this.#armed = true;
    const { later = setImmediate } = this.#options;
    later(() => this.#turn());
  }

  #turn(): void {
    this.#armed = false;
    const waitMs = this.#waitMs();
    if (waitMs > 0) {
      const { clock } = this.#options;
      this.#armed = true;
      clock.at(clock.monotonicMs() + waitMs, () => this.#turn());
      return;
    }
    const next = this.#next();
    if (next !== undefined) {
      this.#tokens -= 1;
      this.#size -= 1;
      next.begin();
    }
    this.#arm();
  }

  /** 0: one may begin. */
  #waitMs(): number {
    const { clock, perSecond } = this.#options;
    const nowMs = clock.monotonicMs();
    const gained = ((nowMs - this.#atMs) * perSecond) / 1000;
    this.#tokens = Math.min(this.#burst, this.#tokens + gained);
    this.#atMs = nowMs;
    return this.#tokens >= 1 ? 0 : Math.ceil(((1 - this.#tokens) * 1000) / perSecond);
  }

  #next(): Waiting | undefined {
    const carrier = this.#first.shift();
    if (carrier !== undefined) return carrier;
    const [entry] = this.#others;
    if (entry === undefined) return undefined;
    const [source, line] = entry;
    const next = line.shift();
    // Behind all the others.
    this.#others.delete(source);
    if (line.length > 0) this.#others.set(source, line);
    return next;
  }
}
