import { type Clock, wallUs } from '../../base/clock.ts';
import { Fifo } from '../../base/fifo.ts';
import type { AccountId, CallUuid } from '../../base/ids.ts';
import { maskDeep, maskSecrets } from '../../base/mask.ts';
import { QualityTrack } from './quality-track.ts';

/**
 * Kinds of entries in a call's timeline. Account owners read the timeline to diagnose a call; it never contains tokens
 * or passwords.
 */
export type CallLogKind = 'sip' | 'xml' | 'callback' | 'media' | 'stream' | 'call' | 'warning';

type LogClock = Pick<Clock, 'monotonicMs' | 'wallMs'>;

/** Maximum number of concealed texts per log. The oldest is dropped beyond that. */
const MAX_CONCEALED = 64;

/** One timeline entry. `facts` never contain secrets. */
export interface CallLogEntry {
  readonly atUs: number;
  readonly kind: CallLogKind;
  readonly text: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

const NO_FACTS: CallLogEntry['facts'] = {};

export class CallLog {
  readonly callUuid: CallUuid;
  readonly accountId: AccountId;
  /** Media quality samples over the whole call. */
  readonly quality = new QualityTrack();
  /** True while keypad and spoken input must not appear, because a recording is paused. */
  hidesInput = false;
  #dropped = 0;
  #endedMs: number | undefined;
  readonly #entries: CallLogEntry[] = [];
  #concealed: Set<string> | undefined;
  readonly #max: number;
  readonly #clock: LogClock;
  readonly #closed: (log: CallLog) => void;

  constructor(
    owner: { callUuid: CallUuid; accountId: AccountId },
    max: number,
    around: { readonly clock: LogClock; readonly closed: (log: CallLog) => void },
  ) {
    this.callUuid = owner.callUuid;
    this.accountId = owner.accountId;
    this.#max = max;
    this.#clock = around.clock;
    this.#closed = around.closed;
  }

  /** Adds an entry. The caller must not change `facts` afterwards. */
  add(kind: CallLogKind, text: string, facts: CallLogEntry['facts'] = NO_FACTS): void {
    if (this.#entries.length >= this.#max) {
      // A full log drops its middle: the first entries show why a call failed, the last ones how it ended.
      this.#entries.splice(Math.floor(this.#max / 2), 1);
      this.#dropped += 1;
    }
    const shown = maskDeep(this.#withoutConcealed(facts)) as CallLogEntry['facts'];
    this.#entries.push({
      atUs: wallUs(this.#clock),
      kind,
      text: maskSecrets(text),
      facts: shown,
    });
  }

  /** Replaces `text` with `***` in the facts of all later entries. Used for confidential keypad input. */
  conceal(text: string): void {
    this.#concealed ??= new Set();
    const [oldest] = this.#concealed;
    if (this.#concealed.size >= MAX_CONCEALED && oldest !== undefined)
      this.#concealed.delete(oldest);
    this.#concealed.add(text);
  }

  close(): void {
    this.#endedMs = this.#clock.monotonicMs();
    this.#closed(this);
  }

  /** Monotonic time at which the log was closed, in ms; undefined while the call is active. */
  get endedMs(): number | undefined {
    return this.#endedMs;
  }

  get dropped(): number {
    return this.#dropped;
  }

  entries(): readonly CallLogEntry[] {
    return this.#entries;
  }

  /** Replaces confidential keypad input in the text by `***`. */
  withoutConcealed(text: string): string {
    let shown = text;
    for (const secret of this.#concealed ?? []) shown = shown.replaceAll(secret, '***');
    return shown;
  }

  #withoutConcealed(facts: CallLogEntry['facts']): CallLogEntry['facts'] {
    if (this.#concealed === undefined) return facts;
    const shown = (value: unknown): unknown =>
      typeof value === 'string' ? this.withoutConcealed(value) : value;
    return Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, shown(value)]));
  }
}

/** Timelines of active calls and of recently ended ones, limited by age and number. */
export class CallLogs {
  readonly #live = new Map<CallUuid, CallLog>();
  readonly #ended = new Map<CallUuid, CallLog>();
  /** Ended calls, oldest first. */
  readonly #order = new Fifo<CallLog>();
  readonly #limits: {
    readonly entries: number;
    readonly retentionMs: number;
    readonly calls: number;
  };
  readonly #clock: LogClock;
  readonly #around: ConstructorParameters<typeof CallLog>[2];

  constructor(limits: { entries: number; retentionMs: number; calls: number }, clock: LogClock) {
    this.#limits = limits;
    this.#clock = clock;
    this.#around = { clock, closed: (ended) => this.#closed(ended) };
  }

  #closed(ended: CallLog): void {
    this.#live.delete(ended.callUuid);
    this.#ended.set(ended.callUuid, ended);
    this.#order.push(ended);
  }

  open(callUuid: CallUuid, accountId: AccountId): CallLog {
    this.#forgetOld();
    const log = new CallLog({ callUuid, accountId }, this.#limits.entries, this.#around);
    this.#live.set(callUuid, log);
    return log;
  }

  get(callUuid: CallUuid): CallLog | undefined {
    return this.#live.get(callUuid) ?? this.#ended.get(callUuid);
  }

  #forgetOld(): void {
    const before = this.#clock.monotonicMs() - this.#limits.retentionMs;
    for (let first = this.#order.first(); first !== undefined; first = this.#order.first()) {
      const isOld = first.endedMs !== undefined && first.endedMs < before;
      const tooMany = this.#live.size + this.#ended.size >= this.#limits.calls;
      if (!isOld && !tooMany) return;
      this.#order.shift();
      if (this.#ended.get(first.callUuid) === first) this.#ended.delete(first.callUuid);
    }
  }
}
