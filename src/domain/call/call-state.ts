/** State machine of one call, from new to ended: status, transition times and event listeners. */

import type { Clock } from '../../base/clock.ts';
import { noOperation } from '../../base/no-operation.ts';
import { Timeline } from '../../base/timeline.ts';
import type { CallLog } from './call-log.ts';
import type { CallEnd } from './end-cause.ts';
import type { Refer } from './needs.ts';

export type CallStatus = 'new' | 'ringing' | 'early' | 'answered' | 'ended';

/** Call events. All handlers are optional. */
export interface CallEvents {
  ringing?(): void;
  earlyMedia?(): void;
  answered?(): void;
  /** The peer started or stopped holding the call; see `Call.hold`. */
  holds?(): void;
  /** The peer sent REFER: it wants to transfer its other party. */
  referred?(refer: Refer): void;
}

/** State of one call. Times are microseconds on the call's timeline; undefined until the event has happened. */
export class CallState {
  readonly signal: AbortSignal;
  readonly ended: Promise<CallEnd>;

  readonly #log: CallLog;
  readonly #timeline: Timeline;
  /** Deadlines on the monotonic clock (ms): answered time never counts beyond the earliest. */
  #limits: Set<{ readonly atMs: number }> | undefined;
  readonly #abort = new AbortController();
  readonly #observers = new Set<CallEvents>();
  #resolveEnded: (end: CallEnd) => void = noOperation;
  #status: CallStatus = 'new';
  #ringUs: number | undefined;
  #answerUs: number | undefined;
  #endUs: number | undefined;
  #isAccepted = false;

  constructor(clock: Pick<Clock, 'monotonicMs' | 'wallMs'>, log: CallLog) {
    this.#timeline = new Timeline(clock);
    this.#log = log;
    this.signal = this.#abort.signal;
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  get status(): CallStatus {
    return this.#status;
  }

  get ringUs(): number | undefined {
    return this.#ringUs;
  }

  get answerUs(): number | undefined {
    return this.#answerUs;
  }

  get endUs(): number | undefined {
    return this.#endUs;
  }

  get isEnded(): boolean {
    return this.#status === 'ended';
  }

  /** True once either side has sent a 200, even if its SDP is unusable. */
  get isAccepted(): boolean {
    return this.#isAccepted;
  }

  observe(events: CallEvents): () => void {
    this.#observers.add(events);
    return () => this.#observers.delete(events);
  }

  // -------------------------------------------------------------- transitions

  /** Marks the call as ringing. Only the first call has an effect. */
  ringing(): void {
    if (this.#status !== 'new') return;
    this.#status = 'ringing';
    this.#ringUs = this.nowUs();
    this.#notify((events) => events.ringing?.());
  }

  earlyMedia(): void {
    this.#status = 'early';
    this.#notify((events) => events.earlyMedia?.());
  }

  accepted(): void {
    this.#isAccepted = true;
  }

  /** Starts answered time at `us`. For an inbound call, `answered` follows once the store has the open record. */
  answeredAt(us: number): void {
    this.#answerUs = us;
  }

  answered(): void {
    this.#status = 'answered';
    this.#log.add('call', 'answered');
    this.#notify((events) => events.answered?.());
  }

  holdChanged(): void {
    this.#notify((events) => events.holds?.());
  }

  /** Passes a REFER to all listeners. Returns false if no listener handles REFER. */
  referred(refer: Refer): boolean {
    const listeners = [...this.#observers].filter((events) => events.referred !== undefined);
    for (const events of listeners) events.referred?.(refer);
    return listeners.length > 0;
  }

  /**
   * Ends the call; must be called exactly once. Aborts the signal before `closeMedia`, so that abort listeners still
   * find open media.
   */
  end(end: CallEnd, closeMedia: () => void): void {
    this.#status = 'ended';
    this.#endUs = this.#bookedEndUs();
    this.#log.add('call', `ended: ${end.cause}`, { source: end.source, detail: end.detail });
    this.#abort.abort(CALL_ENDED);
    closeMedia();
    this.#resolveEnded(end);
  }

  // -------------------------------------------------------------- time

  nowUs(): number {
    return this.#timeline.nowUs();
  }

  /** Converts `us` on the call's timeline to the monotonic clock (ms). */
  msAt(us: number): number {
    return this.#timeline.msAt(us);
  }

  /** Caps answered time at `atMs` (monotonic, ms), even if the call ends later. The returned function removes the cap. */
  limitTo(atMs: number): () => void {
    const limit = { atMs };
    this.#limits ??= new Set();
    this.#limits.add(limit);
    return () => this.#limits?.delete(limit);
  }

  #bookedEndUs(): number {
    let endUs = this.nowUs();
    for (const { atMs } of this.#limits ?? []) endUs = Math.min(endUs, this.#timeline.usAt(atMs));
    return Math.max(this.#answerUs ?? 0, endUs);
  }

  #notify(of: (events: CallEvents) => void): void {
    if (this.#observers.size === 0) return;
    for (const events of [...this.#observers]) of(events);
  }
}

/** The abort reason of every ended call. It is shared, because a new Error for each would collect a stack trace. */
const CALL_ENDED = Object.assign(new Error('the call has ended'), { name: 'CallEnded' });
