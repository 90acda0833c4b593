import type { Clock } from '../../base/clock.ts';
import { type Flow, type Glance, glance } from '../../protocol/sip/sip.ts';
import { SourceBudgets, sourceOf } from './source-budgets.ts';

/** What is known about who sent a message. */
export interface Acquaintance {
  /** Proved a password on this flow, or we spoke to it first. */
  knows(flow: Flow): boolean;
  /** A carrier calls over it. */
  isCarrier(flow: Flow): boolean;
  /** The credentials carry a nonce that we sent to that address: its source is not forged. */
  hasNonce(authorization: string, flow: Flow): boolean;
}

export interface FrontDeskOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly acquaintance: Acquaintance;
  /** Messages a second of one address that proved nothing: new calls, others, and those with a nonce, each. */
  readonly unknownPeersPerSecond: number;
  /** Takes the message. `isUnknown`: its sender proved nothing. */
  readonly serve: (bytes: Uint8Array, flow: Flow, isUnknown: boolean) => void;
  /** A message over a connection was too much. */
  readonly close: (connectionId: number) => void;
  /** Calls back in the loop's next turn. Default: setImmediate. */
  readonly later?: (work: () => void) => void;
}

/** Why messages were not looked at. */
export type DropReason = 'source' | 'queue' | 'keepAlive' | 'garbage';

interface Waiting {
  readonly bytes: Uint8Array;
  readonly flow: Flow;
}

/** The rate of one address and port is that of an address divided by this. */
const FLOW_SHARE = 5;
/** The rate of an acquaintance is that of an unknown peer times this. */
const ACQUAINTANCE_TIMES = 10;
const MAX_WAITING = 512;
/** Time for unknown peers in one turn of the event loop; then messages of known peers are served again. */
const UNKNOWN_PEERS_MS = 3;
const KEEP_ALIVE_BYTES = 4;

/**
 * Decides at the socket, before anything is parsed, who is served first: acquaintances, carriers and whoever shows a nonce of
 * ours at once; unknown peers when the turn is over, in short slices from two short queues, new calls last. Each source
 * of unknown peers has a budget. A message beyond it is dropped without an answer, and its connection, if any, is closed.
 */
export class FrontDesk {
  readonly #options: FrontDeskOptions;
  readonly #calls: SourceBudgets;
  readonly #others: SourceBudgets;
  readonly #flows: SourceBudgets;
  readonly #proven: SourceBudgets;
  readonly #acquaintances: SourceBudgets;
  /** What is waiting: in dialogs, REGISTER and the like; then new calls. */
  readonly #waiting: readonly [Waiting[], Waiting[]] = [[], []];
  readonly #drops: Record<DropReason, number> = { source: 0, queue: 0, keepAlive: 0, garbage: 0 };
  #armed = false;

  constructor(options: FrontDeskOptions) {
    this.#options = options;
    const { unknownPeersPerSecond: rate } = options;
    this.#calls = new SourceBudgets(rate);
    this.#others = new SourceBudgets(rate);
    this.#flows = new SourceBudgets(Math.ceil(rate / FLOW_SHARE));
    this.#proven = new SourceBudgets(rate);
    this.#acquaintances = new SourceBudgets(rate * ACQUAINTANCE_TIMES);
  }

  /** Messages that were not looked at, since the start. */
  drops(): Readonly<Record<DropReason, number>> {
    return this.#drops;
  }

  received(bytes: Uint8Array, flow: Flow): void {
    if (bytes.length <= KEEP_ALIVE_BYTES) {
      this.#drops.keepAlive += 1;
      return;
    }
    const { acquaintance, serve, clock } = this.#options;
    if (acquaintance.isCarrier(flow)) {
      serve(bytes, flow, false);
      return;
    }
    const nowMs = clock.monotonicMs();
    if (acquaintance.knows(flow)) {
      if (this.#acquaintances.take(nameOf(flow), nowMs)) serve(bytes, flow, false);
      else this.#drop('source', flow);
      return;
    }
    const seen = glance(bytes);
    if (seen === undefined) this.#drop('garbage', flow);
    else this.#fromUnknown({ bytes, flow }, seen, nowMs);
  }

  #fromUnknown(message: Waiting, { method, inDialog, authorization }: Glance, nowMs: number): void {
    const { bytes, flow } = message;
    const { acquaintance, serve } = this.#options;
    const source = sourceOf(flow.remoteAddress);
    if (authorization !== undefined && acquaintance.hasNonce(authorization, flow)) {
      if (this.#proven.take(source, nowMs)) serve(bytes, flow, false);
      else this.#drop('source', flow);
      return;
    }
    const isCall = method === 'INVITE' && !inDialog;
    const budget = isCall ? this.#calls : this.#others;
    if (!this.#flows.take(nameOf(flow), nowMs) || !budget.take(source, nowMs)) {
      this.#drop('source', flow);
      return;
    }
    const queue = this.#waiting[isCall ? 1 : 0];
    if (queue.length >= MAX_WAITING) {
      this.#drops.queue += 1;
      return;
    }
    queue.push(message);
    this.#arm();
  }

  #drop(why: DropReason, { connectionId }: Flow): void {
    this.#drops[why] += 1;
    if (connectionId !== undefined) this.#options.close(connectionId);
  }

  #arm(): void {
    if (this.#armed) return;
    this.#armed = true;
    const { later = setImmediate } = this.#options;
    later(() => this.#work());
  }

  #work(): void {
    this.#armed = false;
    const { clock, serve } = this.#options;
    const untilMs = clock.monotonicMs() + UNKNOWN_PEERS_MS;
    for (const queue of this.#waiting) {
      let done = 0;
      for (const { bytes, flow } of queue) {
        if (clock.monotonicMs() >= untilMs) break;
        done += 1;
        serve(bytes, flow, true);
      }
      queue.splice(0, done);
    }
    if (this.#waiting.some((queue) => queue.length > 0)) this.#arm();
  }
}

const nameOf = ({ transport, remoteAddress, remotePort }: Flow): string =>
  `${transport} ${remoteAddress} ${remotePort}`;
