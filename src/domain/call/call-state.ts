/** Where a call stands, from new to ended; when it got there, in the time of its own; and who is told of it. */

import type { Clock } from '../../base/clock.ts';
import { noOperation } from '../../base/no-operation.ts';
import { Timeline } from '../../base/timeline.ts';
import type { CallLog } from './call-log.ts';
import type { CallEnd } from './end-cause.ts';
import type { Refer } from './needs.ts';

export type CallStatus = 'new' | 'ringing' | 'early' | 'answered' | 'ended';

/** Told as things happen. Optional: a caller names what it wants to hear. */
export interface CallEvents {
  ringing?(): void;
  earlyMedia?(): void;
  answered?(): void;
  /** The peer began to hold us, or ended it: `hold` tells. */
  holds?(): void;
  /** The peer wants its other party to talk to somebody else. */
  referred?(refer: Refer): void;
}

/** Moments are microseconds of the call's timeline; undefined: has not happened. */
export class CallState {
  readonly signal: AbortSignal;
  readonly ended: Promise<CallEnd>;

  readonly #log: CallLog;
  readonly #timeline: Timeline;
  /** Moments of the monotonic clock at which answered time is over at the latest. */
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

  /** A 200 has been sent, by us or by the called party, usable or not. */
  get isAccepted(): boolean {
    return this.#isAccepted;
  }

  observe(events: CallEvents): () => void {
    this.#observers.add(events);
    return () => this.#observers.delete(events);
  }

  // -------------------------------------------------------------- what happens

  /** For the first time; later ones do nothing. */
  ringing(): void {
    if (this.#status !== 'new') return;
    this.#status = 'ringing';
    this.#ringUs = this.nowUs();
    this.#tell((events) => events.ringing?.());
  }

  earlyMedia(): void {
    this.#status = 'early';
    this.#tell((events) => events.earlyMedia?.());
  }

  accepted(): void {
    this.#isAccepted = true;
  }

  /** Answered time counts from here on; on an inbound call `answered` follows once the store has it. */
  answeredAt(us: number): void {
    this.#answerUs = us;
  }

  answered(): void {
    this.#status = 'answered';
    this.#log.add('call', 'answered');
    this.#tell((events) => events.answered?.());
  }

  holdChanged(): void {
    this.#tell((events) => events.holds?.());
  }

  /** False: nobody deals with that. */
  referred(refer: Refer): boolean {
    const listeners = [...this.#observers].filter((events) => events.referred !== undefined);
    for (const events of listeners) events.referred?.(refer);
    return listeners.length > 0;
  }

  /** Once. The signal is aborted before `closeMedia` is called, so that its listeners still find open media. */
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

  /** The moment of the monotonic clock that is shown as `us`. */
  msAt(us: number): number {
    return this.#timeline.msAt(us);
  }

  /**
   * Answered time is booked up to this moment of the monotonic clock at the latest, however late the end itself comes.
   * The returned function lifts the limit.
   */
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

  #tell(of: (events: CallEvents) => void): void {
    if (this.#observers.size === 0) return;
    for (const events of [...this.#observers]) of(events);
  }
}

/** The abort reason of every ended call. It is shared, because a new Error for each would collect a stack trace. */
const CALL_ENDED = Object.assign(new Error('the call has ended'), { name: 'CallEnded' });
