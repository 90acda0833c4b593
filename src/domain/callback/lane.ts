import type { Clock } from '../../base/clock.ts';
import type { PendingOf } from './needs.ts';
import {
  MAX_DELIVERIES_PER_ACCOUNT,
  MAX_QUEUED_PER_ACCOUNT,
  MAX_QUEUED_PER_CAMPAIGN,
} from './settings.ts';
import type { StoredNotification } from './types.ts';

export interface LaneEntry {
  readonly notification: StoredNotification;
  /** Settles once the store has saved the notification or has failed to. */
  readonly stored: Promise<void>;
  /** Creation time of the notification as far as this process knows, monotonic, ms. */
  readonly bornMs: number;
}

/** Returns the lane of a notification: that of its campaign, or else of its account. */
export const laneOf = ({ accountId, subject, json }: StoredNotification): PendingOf => ({
  accountId,
  subject: json === undefined ? undefined : subject,
});

/** Returns the monotonic creation time. Uses the wall clock, because the notification may come from an earlier process. */
export const bornMsOf = (
  { createdUs }: StoredNotification,
  clock: Pick<Clock, 'monotonicMs' | 'wallMs'>,
): number => clock.monotonicMs() - Math.max(0, clock.wallMs() - createdUs / 1000);

export const keyOf = ({ accountId, subject = '' }: PendingOf): string => `${accountId} ${subject}`;

/**
 * Notifications of one account or campaign in memory. Each subject has a queue with one delivery at a time. The total
 * is limited.
 */
export class Lane {
  readonly of: PendingOf;
  /** Maximum number of notifications in memory. */
  readonly limit: number;
  /** True while more notifications wait in the store. New ones then also wait in the store, to keep the order. */
  overflowed = false;
  refilling = false;
  readonly #queues = new Map<string, LaneEntry[]>();
  /** Subjects that have a notification to deliver and no delivery in progress, in arrival order. */
  readonly #ready: string[] = [];
  readonly #ids = new Set<string>();
  /** IDs finished during a listing, which may still include them. */
  readonly #finishedDuringListing = new Set<string>();
  /** Callbacks per subject that wait until all its notifications are delivered. */
  readonly #waiters = new Map<string, Array<() => void>>();
  #running = 0;

  constructor(of: PendingOf) {
    this.of = of;
    this.limit = of.subject === undefined ? MAX_QUEUED_PER_ACCOUNT : MAX_QUEUED_PER_CAMPAIGN;
  }

  get queued(): number {
    return this.#ids.size;
  }

  /** True if no notification of the lane waits in memory or in the store. */
  get isDone(): boolean {
    return this.#ids.size === 0 && !this.overflowed && !this.refilling;
  }

  knows(id: string): boolean {
    return this.#ids.has(id) || this.#finishedDuringListing.has(id);
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

  /** Returns the next deliverable entry. Its subject is blocked until `done`. */
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
    if (this.refilling) this.#finishedDuringListing.add(id);
    const queue = this.#queues.get(subject);
    queue?.shift();
    if (queue !== undefined && queue.length > 0) this.#ready.push(subject);
    else this.#quiet(subject);
  }

  /** Drops the entries behind the current delivery that were created up to `untilUs`. Returns their number. */
  dropBehind({ subject }: StoredNotification, untilUs: number): number {
    const queue = this.#queues.get(subject) ?? [];
    const retained = queue.filter(
      ({ notification }, i) => i === 0 || notification.createdUs > untilUs,
    );
    for (const entry of queue) {
      if (retained.includes(entry)) continue;
      this.#ids.delete(entry.notification.id);
      if (this.refilling) this.#finishedDuringListing.add(entry.notification.id);
    }
    this.#queues.set(subject, retained);
    return queue.length - retained.length;
  }

  /** Calls `act` once the subject has no delivery in progress or waiting. Calls it immediately if that is already so. */
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

  /** Drops all entries and calls all waiting callbacks. */
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
    this.#finishedDuringListing.clear();
  }
}
