import type { Clock } from '../../base/clock.ts';
import {
  type Flow,
  isNewCall,
  peerOf,
  type QuickParse,
  quickParse,
} from '../../protocol/sip/sip.ts';
import { AdmissionQueue } from './admission-queue.ts';
import { CallLine, flowName } from './call-line.ts';
import { SourceBudgets, sourceOf } from './source-budgets.ts';

/** Facts about the sender of a message. */
export interface KnownPeer {
  /** True if the peer has authenticated on this flow, or was contacted first by us. */
  knows(flow: Flow): boolean;
  /** True if a carrier calls over the flow. */
  isCarrier(flow: Flow): boolean;
  /** Name of the carrier. Default: undefined. */
  carrierOf?(flow: Flow): string | undefined;
  /** True if the credentials contain a nonce that was sent to that address, so the source is not forged. */
  hasNonce(authorization: string, flow: Flow): boolean;
}

/** Authenticated peer or carrier · unauthenticated with a valid nonce · unknown. */
type Standing = 'known' | 'proven' | 'unknown';

export interface Served {
  readonly bytes: Uint8Array;
  readonly flow: Flow;
  readonly standing: Standing;
  /** Time since the message arrived at this machine, in milliseconds. */
  readonly waitedMs: number;
  /** True for a new call that would wait too long in the queue. */
  readonly isTooMany: boolean;
}

export interface AdmissionFilterOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly acquaintance: KnownPeer;
  /** Messages per second accepted from one unauthenticated address: new calls, others, and those with a nonce, each. */
  readonly unknownPeersPerSecond: number;
  readonly serve: (message: Served) => void;
  /**
   * Returns whether new calls are refused. A refused call skips the queue, because the refusal is cheap. Default:
   * never.
   */
  readonly refusesCalls?: () => boolean;
  /** Closes a connection that exceeded its budget. */
  readonly close: (connectionId: number) => void;
  /** Runs a callback in the next turn of the event loop. Default: setImmediate. */
  readonly later?: (work: () => void) => void;
}

/** Reasons for dropping messages without parsing. */
export type DropReason = 'source' | 'queue' | 'keepAlive' | 'garbage';

interface Waiting {
  readonly bytes: Uint8Array;
  readonly flow: Flow;
  readonly standing: Standing;
  readonly arrivedMs: number;
}

/** Divisor: the rate limit of one address and port is that of the address divided by this. */
const FLOW_SHARE = 5;
/** Factor: the rate limit of a peer with a nonce is that of an unknown peer times this. */
const ACQUAINTANCE_TIMES = 10;
/** Maximum number of queued messages of a class of senders. */
const MAX_WAITING = 512;
/** Limits of the queue of new calls from known peers. */
const CALL_QUEUE = {
  /** Maximum number of calls: the number that can be refused with 503 in half a second. */
  calls: 4096,
  /**
   * Maximum queueing time in milliseconds. Later calls are refused immediately, because their callers would retransmit
   * after half a second (RFC 3261 Timer A).
   */
  delayMs: 250,
  /** Number of calls that may wait in any case. */
  short: 16,
} as const;
/** Durations within and between turns of the event loop, in milliseconds. */
const TURN_MS = {
  /**
   * Time without any served message that counts as a pause (garbage collection, CPU contention). Even overloaded turns
   * are shorter.
   */
  pause: 100,
  /** Time for new calls of known peers. Other messages follow, because most of a call's work comes later. */
  calls: 2,
  /** Time for unknown peers, before messages of known peers are served again. */
  unknownPeers: 3,
} as const;
const KEEP_ALIVE_BYTES = 4;

/**
 * Prioritizes messages before parsing. In-dialog messages, REGISTER, OPTIONS and similar requests of known peers,
 * carriers and senders with a valid nonce are served immediately. Their new calls follow, each with its CANCEL. Unknown
 * peers come last, from two short queues, new calls after other requests. Each class gets a short slice of a turn. Each
 * unknown source has a budget. A message beyond it is dropped without a response, and its connection, if any, is
 * closed.
 */
export class AdmissionFilter {
  readonly #options: AdmissionFilterOptions;
  readonly #calls: SourceBudgets;
  readonly #others: SourceBudgets;
  readonly #flows: SourceBudgets;
  readonly #proven: SourceBudgets;
  readonly #knownPeers: SourceBudgets;
  readonly #knownCalls = new CallLine<Waiting>(CALL_QUEUE.calls);
  readonly #known = [this.#knownCalls] as const;
  /** Queues of unknown peers: in-dialog requests, REGISTER and similar first, then new calls. */
  readonly #unknown = [
    new AdmissionQueue<Waiting>(MAX_WAITING),
    new AdmissionQueue<Waiting>(MAX_WAITING),
  ] as const;
  readonly #drops: Record<DropReason, number> = { source: 0, queue: 0, keepAlive: 0, garbage: 0 };
  readonly #waits = new Mean();
  readonly #pauses = new PauseWatch();
  #armed = false;

  constructor(options: AdmissionFilterOptions) {
    this.#options = options;
    const { unknownPeersPerSecond: rate } = options;
    this.#calls = new SourceBudgets(rate);
    this.#others = new SourceBudgets(rate);
    this.#flows = new SourceBudgets(Math.ceil(rate / FLOW_SHARE));
    this.#proven = new SourceBudgets(rate);
    this.#knownPeers = new SourceBudgets(rate * ACQUAINTANCE_TIMES);
  }

  /** Number of messages dropped since the start, by reason. */
  drops(): Readonly<Record<DropReason, number>> {
    return this.#drops;
  }

  /**
   * Average queueing time in milliseconds of messages of known peers, except new calls, since the last call of this
   * function; 0 if there were none. Pauses of the event loop are excluded, because the loop's own delay measures them.
   */
  takeWaitMs(): number {
    return this.#waits.take();
  }

  /** `waitedMs` is the time since the message arrived at this machine. */
  received(bytes: Uint8Array, flow: Flow, waitedMs: number): void {
    if (bytes.length <= KEEP_ALIVE_BYTES) {
      this.#drops.keepAlive += 1;
      return;
    }
    const { acquaintance, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    const arrivedMs = nowMs - waitedMs;
    this.#pauses.at(nowMs);
    if (acquaintance.isCarrier(flow)) {
      this.#admit({ bytes, flow, standing: 'known', arrivedMs });
      return;
    }
    if (acquaintance.knows(flow)) {
      if (this.#knownPeers.take(flowName(flow), nowMs))
        this.#admit({ bytes, flow, standing: 'known', arrivedMs });
      else this.#drop('source', flow);
      return;
    }
    const seen = quickParse(bytes);
    if (seen === undefined) this.#drop('garbage', flow);
    // A CANCEL cannot be challenged (RFC 3261 §22.1).
    else if (seen.method === 'CANCEL' && this.#knownCalls.isWaiting(flow))
      this.#wait(this.#knownCalls, { bytes, flow, standing: 'unknown', arrivedMs });
    else this.#fromUnknown({ bytes, flow, standing: 'unknown', arrivedMs }, seen, nowMs);
  }

  #fromUnknown(message: Waiting, seen: QuickParse, nowMs: number): void {
    const { flow } = message;
    const { authorization } = seen;
    const source = sourceOf(peerOf(flow).address);
    if (authorization !== undefined && this.#options.acquaintance.hasNonce(authorization, flow)) {
      if (this.#proven.take(source, nowMs)) this.#admit({ ...message, standing: 'proven' });
      else this.#drop('source', flow);
      return;
    }
    const isCall = isNewCall(seen);
    const budget = isCall ? this.#calls : this.#others;
    if (!this.#flows.take(flowName(flow), nowMs) || !budget.take(source, nowMs))
      this.#drop('source', flow);
    else this.#wait(this.#unknown[isCall ? 1 : 0], message);
  }

  #admit(message: Waiting): void {
    // Only messages that start like an INVITE or CANCEL are parsed.
    const seen = isInviteOrCancel(message.bytes) ? quickParse(message.bytes) : undefined;
    if (seen?.method === 'CANCEL' && this.#knownCalls.isWaiting(message.flow))
      this.#wait(this.#knownCalls, message);
    else if (seen === undefined || !isNewCall(seen)) {
      this.#waits.add(this.#waitedForOthersMs(message));
      this.#serve(message);
    } else if (this.#options.refusesCalls?.() === true) this.#serve(message);
    else if (this.#isTooLong(message)) this.#serve(message, true);
    else this.#wait(this.#knownCalls, message);
  }

  #wait(line: AdmissionQueue<Waiting>, message: Waiting): void {
    if (line.add(message)) this.#arm();
    else this.#drops.queue += 1;
  }

  /**
   * Returns whether a call would wait too long. The backlog after a pause is excluded: it clears before refused callers
   * would retry.
   */
  #isTooLong(message: Waiting): boolean {
    const { size } = this.#knownCalls;
    if (size < CALL_QUEUE.short) return false;
    return this.#waitedForOthersMs(message) + this.#knownCalls.delayMs > CALL_QUEUE.delayMs;
  }

  #waitedForOthersMs({ arrivedMs }: Waiting): number {
    return this.#options.clock.monotonicMs() - arrivedMs - this.#pauses.since(arrivedMs);
  }

  #serve({ bytes, flow, standing, arrivedMs }: Waiting, isTooMany = false): void {
    const { clock, serve } = this.#options;
    const waitedMs = clock.monotonicMs() - arrivedMs;
    serve({ bytes, flow, standing, waitedMs, isTooMany });
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
    this.#refuseWaiting();
    this.#workOn(this.#known, TURN_MS.calls);
    this.#workOn(this.#unknown, TURN_MS.unknownPeers);
    if (isWaiting(this.#known) || isWaiting(this.#unknown)) this.#arm();
  }

  /** Refuses queued calls when the overload is detected after their arrival, so that their callers fail over sooner. */
  #refuseWaiting(): void {
    while (this.#knownCalls.size > 0 && this.#options.refusesCalls?.() === true) {
      const message = this.#knownCalls.next();
      if (message !== undefined) this.#serve(message);
    }
  }

  #workOn(lines: readonly AdmissionQueue<Waiting>[], limitMs: number): void {
    const { clock } = this.#options;
    const untilMs = clock.monotonicMs() + limitMs;
    for (const line of lines) {
      while (line.size > 0 && clock.monotonicMs() < untilMs) {
        const nowMs = clock.monotonicMs();
        this.#pauses.at(nowMs);
        const message = line.next(nowMs);
        if (message !== undefined) this.#serve(message);
      }
    }
  }
}

const isWaiting = (lines: readonly AdmissionQueue<Waiting>[]): boolean =>
  lines.some((line) => line.size > 0);

/** Detects the latest pause of the event loop from the times at which messages were served. */
class PauseWatch {
  #servedMs = Number.POSITIVE_INFINITY;
  #fromMs = 0;
  #untilMs = 0;

  /** Records that a message is served. */
  at(nowMs: number): void {
    if (nowMs - this.#servedMs >= TURN_MS.pause) {
      this.#fromMs = this.#servedMs;
      this.#untilMs = nowMs;
    }
    this.#servedMs = nowMs;
  }

  /** Milliseconds of the latest pause since then. */
  since(arrivedMs: number): number {
    return Math.max(0, this.#untilMs - Math.max(this.#fromMs, arrivedMs));
  }
}

class Mean {
  #sum = 0;
  #count = 0;

  add(value: number): void {
    this.#sum += value;
    this.#count += 1;
  }

  /** Returns the measured pause and resets it. */
  take(): number {
    const mean = this.#count === 0 ? 0 : this.#sum / this.#count;
    this.#sum = 0;
    this.#count = 0;
    return mean;
  }
}

const [LETTER_C, LETTER_I] = [0x43, 0x49];
const isInviteOrCancel = (bytes: Uint8Array): boolean =>
  bytes[0] === LETTER_I || bytes[0] === LETTER_C;
