import type { Clock } from '../../../base/clock.ts';

export interface HandshakeQueueOptions {
  readonly clock: Pick<Clock, 'monotonicMs' | 'at'>;
  /** Handshakes per second of all sources together. */
  readonly perSecond: number;
  /** Runs a callback in the next turn of the event loop. Default: setImmediate. */
  readonly later?: (work: () => void) => void;
}

interface Waiting {
  readonly begin: () => void;
}

/** Burst size after an idle period, as a fraction of the rate per second. */
const BURST = 1 / 10;

/**
 * Queue of TLS handshakes: at most one per turn of the event loop, within the rate. Carriers come first, then the
 * sources in round-robin order. Thus a source with thousands of connections delays only itself.
 */
export class HandshakeQueue {
  readonly #options: HandshakeQueueOptions;
  readonly #first: Waiting[] = [];
  /** Waiting handshakes by source, in the order of service. */
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

  /** Calls `begin` once in a later turn, unless the returned function cancels it. */
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

  /** Delay in milliseconds until a handshake may begin; 0 if it may begin now. */
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
    // Move the source to the end.
    this.#others.delete(source);
    if (line.length > 0) this.#others.set(source, line);
    return next;
  }
}
