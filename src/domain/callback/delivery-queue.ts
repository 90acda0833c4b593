/**
 * Delivers notifications in order per subject, with retries. Each stays in the store until it is acknowledged or
 * abandoned. Each account and each campaign has a separate lane, so a failing server delays only its own
 * notifications. When a lane is full, new notifications wait in the store in order.
 */
import { type Clock, wallUs } from '../../base/clock.ts';
import { type AccountId, type Random, uuid } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import { RecentMap } from '../../base/recent-map.ts';
import { deliveryOf, deliveryPolicy, leavesBacklog } from './delivery-policy.ts';
import { type ExchangeNeeds, exchange } from './exchange.ts';
import { outlastingStore } from './known-tokens.ts';
import { bornMsOf, keyOf, Lane, type LaneEntry, laneOf } from './lane.ts';
import type { NotificationStore } from './needs.ts';
import { type AttemptOnce, withRetries } from './retry.ts';
import { MAX_BACKLOG_AGE_MS, MAX_NOTIFICATION_AGE_MS, MAX_QUEUED } from './settings.ts';
import type { CallbackAttempt, NotificationDraft, StoredNotification } from './types.ts';
import { splitUrlOptions } from './url-options.ts';

/** Maximum number of remembered IDs of finished notifications. */
const FINISHED_LIMIT = 20_000;
/** Maximum number of remembered calls that another node has taken over. */
const TAKEN_OVER_LIMIT = 20_000;
/** Maximum number of concurrent removals. Above it, a delivery waits for its own removal. */
const MAX_REMOVALS = 1000;
/** Pause before stored notifications that could not be listed are listed again, in milliseconds. */
const LIST_AGAIN_MS = 1000;

export interface DeliveryNeeds extends ExchangeNeeds {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly notifications: NotificationStore;
  /** Called after every attempt, for the call log and the metrics. */
  readonly onAttempt: (
    of: { readonly subject: string; readonly event: string },
    attempt: CallbackAttempt,
  ) => void;
}

export class DeliveryQueue {
  readonly #needs: DeliveryNeeds;
  readonly #lanes = new Map<string, Lane>();
  readonly #stopped = new AbortController();
  /** Aborted when another node has taken over the notifications in memory. */
  #epoch = new AbortController();
  readonly #takenOver = new RecentMap<true>(TAKEN_OVER_LIMIT);
  /** Drafts received between `fence` and `unfence`. Undefined otherwise. */
  #held: NotificationDraft[] | undefined;
  /** IDs of notifications loaded from the store, which may be delivered already. */
  readonly #found = new RecentMap<true>(MAX_QUEUED);
  /** IDs of recently delivered or dropped notifications. The store may still list them. */
  readonly #finished = new RecentMap<true>(FINISHED_LIMIT);
  /** Removals in progress. The next delivery of a subject does not wait for the commit of the last. */
  readonly #removals = new Set<Promise<void>>();
  #queued = 0;
  /** True if more notifications were stored at the start than fit in memory. */
  #moreStored = false;
  #resuming = false;
  #cancelListing: (() => void) | undefined;
  #idleWaiters: Array<() => void> = [];

  constructor(needs: DeliveryNeeds) {
    this.#needs = needs;
  }

  get queued(): number {
    return this.#queued;
  }

  /** Stores the notification and delivers it after earlier ones of the same subject. Never throws. */
  notify(draft: NotificationDraft): void {
    if (this.#takenOver.get(draft.subject)) return;
    if (this.#held !== undefined) {
      if (this.#held.length < MAX_QUEUED) this.#held.push(draft);
      return;
    }
    const { clock, random, notifications } = this.#needs;
    const notification: StoredNotification = {
      ...draft,
      id: uuid(random),
      createdUs: wallUs(clock),
      attempts: 0,
    };
    const stored = this.#tolerate('keep', notification, () => notifications.put(notification));
    this.#accept(notification, stored);
  }

  /**
   * Delivers a notification that was stored together with its cause. Ignores one already loaded from the store: a
   * failed commit answer can report a stored notification late.
   */
  notifyStored(notification: StoredNotification): void {
    if (this.#held !== undefined) return;
    if (this.#found.get(notification.id) || this.#knows(notification)) return;
    this.#accept(notification, Promise.resolve());
  }

  /** Resolves once all current notifications of the subject are delivered, or after `limitMs`. */
  async caughtUp(of: { readonly accountId: AccountId; readonly subject: string }, limitMs: number) {
    const lane = this.#lanes.get(keyOf({ accountId: of.accountId, subject: undefined }));
    if (lane === undefined) return;
    const { clock } = this.#needs;
    await new Promise<void>((resolve) => {
      const cancel = clock.at(clock.monotonicMs() + limitMs, resolve);
      lane.whenQuiet(of.subject, () => {
        cancel();
        resolve();
      });
    });
  }

  fence(subjects: readonly string[]): void {
    this.#epoch.abort(new Error('another node has taken over the callbacks of this one'));
    this.#epoch = new AbortController();
    for (const subject of subjects) this.#takenOver.set(subject, true);
    this.#held ??= [];
    const lanes = [...this.#lanes.values()];
    this.#lanes.clear();
    this.#queued = 0;
    this.#moreStored = false;
    for (const lane of lanes) lane.forget();
    this.#announceIdle();
  }

  unfence(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const draft of held) this.notify(draft);
  }

  /** Adopts the notifications of ended epochs, including this node's own. Resolves with the number loaded. */
  async resume(): Promise<number> {
    await this.#needs.notifications.adopt();
    return this.#takeStored();
  }

  /** Delivers notifications that were stored although the answer to their commit is lost. */
  async lookAgain(): Promise<void> {
    if (this.#held === undefined) await this.#takeStored();
  }

  async #takeStored(): Promise<number> {
    this.#resuming = true;
    try {
      const { signal } = this.#epoch;
      const pending = await this.#needs.notifications.listPending(MAX_QUEUED);
      if (signal.aborted) return 0;
      this.#moreStored = pending.length >= MAX_QUEUED;
      let taken = 0;
      for (const notification of pending) {
        const bornMs = bornMsOf(notification, this.#needs.clock);
        if (this.#knows(notification)) continue;
        if (!this.#accept(notification, Promise.resolve(), bornMs)) continue;
        this.#found.set(notification.id, true);
        taken += 1;
      }
      return taken;
    } finally {
      this.#resuming = false;
    }
  }

  /** Waits up to `graceMs` for queued notifications, then stops. The rest stays in the store. */
  async close(graceMs: number): Promise<void> {
    const { clock } = this.#needs;
    await new Promise<void>((resolve) => {
      if (this.#queued === 0) {
        resolve();
        return;
      }
      const cancel = clock.at(clock.monotonicMs() + graceMs, resolve);
      this.#idleWaiters.push(() => {
        cancel();
        resolve();
      });
    });
    this.#stopped.abort(new Error('delivery queue closed'));
    this.#epoch.abort(this.#stopped.signal.reason);
    await Promise.all(this.#removals);
  }

  #knows(notification: StoredNotification): boolean {
    const { id } = notification;
    return (
      this.#lanes.get(keyOf(laneOf(notification)))?.knows(id) === true ||
      this.#finished.get(id) === true
    );
  }

  #lane(notification: StoredNotification): Lane {
    const of = laneOf(notification);
    const known = this.#lanes.get(keyOf(of));
    if (known !== undefined) return known;
    const lane = new Lane(of);
    this.#lanes.set(keyOf(of), lane);
    return lane;
  }

  /** Adds a notification to its lane. Returns false if the lane is full and the notification waits in the store. */
  #accept(
    notification: StoredNotification,
    stored: Promise<void>,
    bornMs = this.#needs.clock.monotonicMs(),
  ): boolean {
    const lane = this.#lane(notification);
    const full = lane.queued >= lane.limit || this.#queued >= MAX_QUEUED;
    if (lane.overflowed || full) {
      lane.overflowed = true;
      // Marks the lane again after the write: an earlier listing may have missed the notification and cleared the mark.
      const { signal } = this.#epoch;
      void stored.then(() => {
        if (signal.aborted) return;
        this.#lane(notification).overflowed = true;
        this.#refillWhereFree();
      });
      return false;
    }
    lane.add({ notification, stored, bornMs });
    this.#queued += 1;
    this.#pump(lane);
    return true;
  }

  #pump(lane: Lane): void {
    for (;;) {
      const { signal } = this.#epoch;
      const entry = signal.aborted ? undefined : lane.take();
      if (entry === undefined) return;
      void this.#deliver(lane, entry, signal)
        .catch((error: unknown) => {
          if (!signal.aborted)
            this.#log(entry.notification).error({ error }, 'notification delivery failed');
        })
        .finally(() => {
          if (signal.aborted) return;
          lane.done(entry);
          this.#queued -= 1;
          if (lane.isDone) this.#lanes.delete(keyOf(lane.of));
          else this.#pump(lane);
          this.#refillWhereFree();
          if (this.#queued === 0) this.#announceIdle();
        });
    }
  }

  async #deliver(
    lane: Lane,
    { notification, stored, bornMs }: LaneEntry,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, notifications, onAttempt } = this.#needs;
    await stored;
    signal.throwIfAborted();
    const { url, policy } = splitUrlOptions(notification.target.url, deliveryPolicy(notification));
    const ageMs = clock.monotonicMs() - bornMs;
    if (notification.attempts > policy.retries || ageMs > MAX_NOTIFICATION_AGE_MS) {
      this.#log(notification).warn({ attempts: notification.attempts }, 'notification abandoned');
    } else {
      let { attempts } = notification;
      const failed = (count: number): void => {
        attempts = count;
        void this.#tolerate('count an attempt of', notification, () =>
          notifications.recordAttempt(notification.id, count),
        );
      };
      const once: AttemptOnce = (readTimeoutMs, ends) =>
        exchange(
          this.#needs,
          deliveryOf(notification, { url, policy, readTimeoutMs }),
          (attempt) => onAttempt(notification, attempt),
          ends,
        );
      // The wait for the lease does not count toward the request timeout.
      await this.#needs.lease?.held(signal);
      const result = await outlastingStore(clock, signal, () =>
        withRetries(clock, { policy, attemptsBefore: attempts, signal, failed, once }),
      );
      if (!result.ok && result.error.cause !== 'tooLarge') {
        this.#log(notification).warn({ detail: result.error.detail }, 'notification abandoned');
        if (leavesBacklog(notification, result.error)) await this.#giveUpBehind(lane, notification);
      }
    }
    signal.throwIfAborted();
    this.#finished.set(notification.id, true);
    const removal = this.#remove(notification);
    if (this.#removals.size >= MAX_REMOVALS) await removal;
  }

  /** Removes a finished notification from the store. After a crash before the commit, it is delivered again. Never rejects. */
  #remove(notification: StoredNotification): Promise<void> {
    const removal = this.#tolerate('remove', notification, () =>
      this.#needs.notifications.remove(notification.id),
    ).finally(() => this.#removals.delete(removal));
    this.#removals.add(removal);
    return removal;
  }

  /**
   * Abandons the campaign's notifications older than `MAX_BACKLOG_AGE_MS` together with the failed one. This bounds
   * the backlog of a failing server, so that new notifications arrive soon after it recovers.
   */
  async #giveUpBehind(lane: Lane, failed: StoredNotification): Promise<void> {
    const { clock, notifications } = this.#needs;
    const untilUs = wallUs(clock) - MAX_BACKLOG_AGE_MS * 1000;
    const dropped = lane.dropBehind(failed, untilUs);
    this.#queued -= dropped;
    await this.#tolerate('remove', failed, async () => {
      const removed = await notifications.removeUntil(lane.of, untilUs);
      if (removed > 0)
        this.#log(failed).warn({ removed, untilUs }, 'older notifications abandoned');
    });
  }

  /** Loads stored notifications into lanes that are at most half full. */
  #refillWhereFree(): void {
    if (this.#queued > MAX_QUEUED / 2 || this.#stopped.signal.aborted) return;
    const lanes = [...this.#lanes.values()];
    if (this.#moreStored && !this.#resuming && !lanes.some((lane) => lane.overflowed))
      void this.#takeStored().catch((error: unknown) => this.#listLater(error));
    for (const lane of lanes) {
      if (lane.overflowed && !lane.refilling && lane.queued <= lane.limit / 2)
        void this.#refill(lane);
    }
  }

  async #refill(lane: Lane): Promise<void> {
    const { limit } = lane;
    const { signal } = this.#epoch;
    lane.beginRefill();
    try {
      // Otherwise the list would include notifications whose removal is not committed yet.
      await Promise.all(this.#removals);
      const pending = await this.#needs.notifications.listPending(limit, lane.of);
      if (signal.aborted) return;
      const fresh = pending.filter((notification) => !this.#knows(notification));
      lane.overflowed = pending.length >= limit;
      for (const notification of fresh) {
        if (this.#queued >= MAX_QUEUED) {
          lane.overflowed = true;
          break;
        }
        // The earlier waiting time is unknown, so the time limit starts now. Earlier attempts count.
        const bornMs = this.#needs.clock.monotonicMs();
        lane.add({ notification, stored: Promise.resolve(), bornMs });
        this.#found.set(notification.id, true);
        this.#queued += 1;
      }
    } catch (error) {
      this.#listLater(error);
    } finally {
      lane.endRefill();
    }
    this.#pump(lane);
  }

  /** Retries a failed listing: perhaps no further delivery ends that would cause one. */
  #listLater(error: unknown): void {
    const { clock, logger } = this.#needs;
    logger.error({ error }, 'failed to list stored notifications');
    this.#cancelListing ??= clock.at(clock.monotonicMs() + LIST_AGAIN_MS, () => {
      this.#cancelListing = undefined;
      this.#refillWhereFree();
    });
  }

  /** Runs a store operation and logs its failure. A failing store must not prevent delivery. */
  async #tolerate(
    what: string,
    notification: StoredNotification,
    work: () => Promise<void>,
  ): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#log(notification).error({ error, what }, 'notification store failed');
    }
  }

  #announceIdle(): void {
    const waiters = this.#idleWaiters;
    this.#idleWaiters = [];
    for (const wake of waiters) wake();
  }

  #log(notification: StoredNotification): Logger {
    const { subject, accountId, event, id, parameters } = notification;
    const callUuid = parameters.find(([name]) => name === 'CallUUID')?.[1];
    const whose = callUuid === undefined ? { subject } : { callUuid };
    return this.#needs.logger.child({ ...whose, accountId, event, notificationId: id });
  }
}
