import type { PendingOf } from './needs.ts';
import {
  MAX_DELIVERIES_PER_ACCOUNT,
  MAX_QUEUED_PER_ACCOUNT,
  MAX_QUEUED_PER_CAMPAIGN,
} from './settings.ts';
import type { StoredNotification } from './types.ts';

export interface LaneEntry {
  readonly notification: StoredNotification;
  /** Settled once the store has it (or has failed to take it). */
  readonly stored: Promise<void>;
  /** The moment of the monotonic clock at which it came into being, as far as this process knows. */
  readonly bornMs: number;
}

/** Whose lane a notification belongs to: its account's, or its campaign's. */
export const laneOf = ({ accountId, subject, json }: StoredNotification): PendingOf => ({
  accountId,
  subject: json === undefined ? undefined : subject,
});

export const keyOf = ({ accountId, subject = '' }: PendingOf): string => `${accountId} ${subject}`;

/** The notifications of one account, or campaign, in memory: a queue per subject, one delivery per subject at a time, a limited number in all. */
export class Lane {
  readonly of: PendingOf;
  /** Held in memory at the most. */
  readonly limit: number;
  /** More waits in the store than in memory. Until that was listed, new ones wait in the store too, to keep the order. */
  overflowed = false;
  refilling = false;
  readonly #queues = new Map<string, LaneEntry[]>();
  /** Subjects with work and no delivery under way, in the order in which they became so. */
  readonly #ready: string[] = [];
  readonly #ids = new Set<string>();
  /** Finished while a listing was under way, which may still name them. */
  readonly #finishedMeanwhile = new Set<string>();
  /** Who waits until nothing of a subject is left to be delivered. */
  readonly #waiters = new Map<string, Array<() => void>>();
  #running = 0;

  constructor(of: PendingOf) {
    this.of = of;
    this.limit = of.subject === undefined ? MAX_QUEUED_PER_ACCOUNT : MAX_QUEUED_PER_CAMPAIGN;
  }

  get queued(): number {
    return this.#ids.size;
  }

  /** Nothing of it waits in memory or in the store. */
  get isDone(): boolean {
    return this.#ids.size === 0 && !this.overflowed && !this.refilling;
  }

  knows(id: string): boolean {
    return this.#ids.has(id) || this.#finishedMeanwhile.has(id);
  }

  add(entry: LaneEntry): void {
    const { id, subject } = entry.notification;
    this.#ids.add(id);
    const queue = this.#queues.get(subject);
    if (queue !== undefined) {
      queue.push(entry);
      return;
    }
    this.#queues.set(subject, [entry]);
    this.#ready.push(subject);
  }

  /** The next entry that may be delivered now; its subject is held until `done`. */
  take(): LaneEntry | undefined {
    if (this.#running >= MAX_DELIVERIES_PER_ACCOUNT) return undefined;
    const subject = this.#ready.shift();
    if (subject === undefined) return undefined;
    const entry = this.#queues.get(subject)?.[0];
    if (entry !== undefined) this.#running += 1;
    return entry;
  }

  done(entry: LaneEntry): void {
    const { id, subject } = entry.notification;
    this.#running -= 1;
    this.#ids.delete(id);
    if (this.refilling) this.#finishedMeanwhile.add(id);
    const queue = this.#queues.get(subject);
    queue?.shift();
    if (queue !== undefined && queue.length > 0) this.#ready.push(subject);
    else this.#quiet(subject);
  }

  /** Forgets what waits behind the one that is under way and is not younger than `untilUs`; how many. */
  dropBehind({ subject }: StoredNotification, untilUs: number): number {
    const queue = this.#queues.get(subject) ?? [];
    const kept = queue.filter(({ notification }, i) => i === 0 || notification.createdUs > untilUs);
    for (const entry of queue) {
      if (kept.includes(entry)) continue;
      this.#ids.delete(entry.notification.id);
      if (this.refilling) this.#finishedMeanwhile.add(entry.notification.id);
    }
    this.#queues.set(subject, kept);
    return queue.length - kept.length;
  }

  /** Calls `act` once nothing of the subject is under way or waiting here; now, when that is so. */
  whenQuiet(subject: string, act: () => void): void {
    if (!this.#queues.has(subject)) {
      act();
      return;
    }
    this.#waiters.set(subject, [...(this.#waiters.get(subject) ?? []), act]);
  }

  #quiet(subject: string): void {
    this.#queues.delete(subject);
    const waiters = this.#waiters.get(subject) ?? [];
    this.#waiters.delete(subject);
    for (const act of waiters) act();
  }

  /** Forgets all entries, and calls what waits for one. */
  forget(): void {
    const subjects = [...this.#queues.keys()];
    this.#ids.clear();
    this.#ready.length = 0;
    this.overflowed = false;
    for (const subject of subjects) this.#quiet(subject);
  }

  beginRefill(): void {
    this.refilling = true;
  }

  endRefill(): void {
    this.refilling = false;
    this.#finishedMeanwhile.clear();
  }
}
