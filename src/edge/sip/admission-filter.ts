import type { Clock } from '../../base/clock.ts';
import { type Flow, peerOf, type QuickParse, quickParse } from '../../protocol/sip/sip.ts';
import { AdmissionQueue } from './admission-queue.ts';
import { CallLine, flowName } from './call-line.ts';
import { SourceBudgets, sourceOf } from './source-budgets.ts';

/** What is known about who sent a message. */
export interface KnownPeer {
  /** Proved a password on this flow, or we spoke to it first. */
  knows(flow: Flow): boolean;
  /** A carrier calls over it. */
  isCarrier(flow: Flow): boolean;
  /** Its name. Default: none has one. */
  carrierOf?(flow: Flow): string | undefined;
  /** The credentials carry a nonce that we sent to that address: its source is not forged. */
  hasNonce(authorization: string, flow: Flow): boolean;
}

/** Proved a password before, or a carrier · shows a nonce of ours · neither. */
export type Standing = 'known' | 'proven' | 'unknown';

export interface Served {
  readonly bytes: Uint8Array;
  readonly flow: Flow;
  readonly standing: Standing;
  /** Since it came to this machine. */
  readonly waitedMs: number;
  /** A new call that would wait too long for those before it. */
  readonly isTooMany: boolean;
}

export interface AdmissionFilterOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly acquaintance: KnownPeer;
  /** Messages a second of one address that proved nothing: new calls, others, and those with a nonce, each. */
  readonly unknownPeersPerSecond: number;
  readonly serve: (message: Served) => void;
  /** Whether a new call would be refused: then it is at once, which costs little. Default: never. */
  readonly refusesCalls?: () => boolean;
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
  readonly standing: Standing;
  readonly arrivedMs: number;
}

/** The rate of one address and port is that of an address divided by this. */
const FLOW_SHARE = 5;
/** The rate of an acquaintance is that of an unknown peer times this. */
const ACQUAINTANCE_TIMES = 10;
const MAX_WAITING = 512;
/** New calls of known peers: as many as are answered 503 in half a second. */
const MAX_WAITING_CALLS = 4096;
/**
 * New calls that would begin later than after this are refused at once: their callers would ask a second time after half a
 * second (RFC 3261 Timer A). So many may wait anyhow.
 */
const LONGEST_LINE_MS = 250;
const SHORT_LINE = 16;
/** A loop that served nobody for so long has paused (garbage collection, a processor that others had): turns are shorter even in an overload. */
const PAUSE_MS = 100;
/** Time for new calls of known peers in one turn of the event loop; then what else has come is served: most of a call's work comes later. */
const CALLS_MS = 2;
/** Time for unknown peers in one turn of the event loop; then messages of known peers are served again. */
const UNKNOWN_PEERS_MS = 3;
const KEEP_ALIVE_BYTES = 4;

/**
 * Decides at the socket, before anything is parsed, who is served first: what acquaintances, carriers and whoever shows a
 * nonce of ours send about calls that run, and REGISTER, OPTIONS and the like, at once; their new calls when all else of the
 * turn was served, each with its CANCEL behind it; then unknown peers from two short queues, new calls last. Each of these gets
 * a short slice of a turn. Each source of unknown peers has a budget. A message beyond it is dropped without an answer, and its connection, if any, is closed.
 */
export class AdmissionFilter {
  readonly #options: AdmissionFilterOptions;
  readonly #calls: SourceBudgets;
  readonly #others: SourceBudgets;
  readonly #flows: SourceBudgets;
  readonly #proven: SourceBudgets;
  readonly #acquaintances: SourceBudgets;
  readonly #knownCalls = new CallLine<Waiting>(MAX_WAITING_CALLS);
  readonly #known = [this.#knownCalls] as const;
  /** In dialogs, REGISTER and the like; then new calls. */
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
    this.#acquaintances = new SourceBudgets(rate * ACQUAINTANCE_TIMES);
  }

  /** Messages that were not looked at, since the start. */
  drops(): Readonly<Record<DropReason, number>> {
    return this.#drops;
  }

  /**
   * How long messages of known peers other than new calls have waited for others on the average, of those served since the last
   * time that this was asked; 0 where there were none. A pause of the loop does not count: the clock of the loop tells of it.
   */
  takeWaitMs(): number {
    return this.#waits.take();
  }

  /** `waitedMs`: since it came to this machine. */
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
      if (this.#acquaintances.take(flowName(flow), nowMs))
        this.#admit({ bytes, flow, standing: 'known', arrivedMs });
      else this.#drop('source', flow);
      return;
    }
    const seen = quickParse(bytes);
    if (seen === undefined) this.#drop('garbage', flow);
    // Nobody can be asked for a password for it (RFC 3261 §22.1).
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
    // Only what begins like one is looked at.
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

  /** After a pause there is a line although there is time to spare: it is over sooner than whoever is refused would ask again. */
  #isTooLong(message: Waiting): boolean {
    const { size } = this.#knownCalls;
    if (size < SHORT_LINE) return false;
    return this.#waitedForOthersMs(message) + this.#knownCalls.delayMs > LONGEST_LINE_MS;
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
    this.#workOn(this.#known, CALLS_MS);
    this.#workOn(this.#unknown, UNKNOWN_PEERS_MS);
    if (isWaiting(this.#known) || isWaiting(this.#unknown)) this.#arm();
  }

  /** Calls that came before it was known that they are too many: their callers ask somebody else the sooner. */
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

/** Knows the latest pause of the loop by the times at which somebody was served. */
class PauseWatch {
  #servedMs = Number.POSITIVE_INFINITY;
  #fromMs = 0;
  #untilMs = 0;

  /** Somebody comes to be served. */
  at(nowMs: number): void {
    if (nowMs - this.#servedMs >= PAUSE_MS) {
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

  /** Begins anew. */
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
const isNewCall = ({ method, inDialog }: QuickParse): boolean => method === 'INVITE' && !inDialog;
