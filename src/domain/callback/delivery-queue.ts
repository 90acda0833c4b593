/**
 * Delivery of notifications: in order per subject, retried, kept in the store until acknowledged or given up. Each account
 * has a lane of its own, and so has each campaign, so that a dead server delays nothing but what is meant for it. A full lane
 * keeps nothing more in memory: what arrives waits in the store, in order, until the lane can take more.
 */
import type { Clock } from '../../base/clock.ts';
import { type AccountId, type Random, uuid } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import { RecentMap } from '../../base/recent-map.ts';
import { deliveryOf, deliveryPolicy, leavesBacklog } from './delivery-policy.ts';
import { type ExchangeNeeds, exchange } from './exchange.ts';
import { outlastingStore } from './known-tokens.ts';
import { keyOf, Lane, type LaneEntry, laneOf } from './lane.ts';
import type { NotificationStore } from './needs.ts';
import { type AttemptOnce, withRetries } from './retry.ts';
import { MAX_BACKLOG_AGE_MS, MAX_NOTIFICATION_AGE_MS, MAX_QUEUED } from './settings.ts';
import type { CallbackAttempt, NotificationDraft, StoredNotification } from './types.ts';
import { splitUrlOptions } from './url-options.ts';

/** Ids of notifications that are remembered after their end. */
const FINISHED_LIMIT = 20_000;
/** Calls that another node has taken over and that are remembered. */
const TAKEN_OVER_LIMIT = 20_000;
/** Removals that may be under way while deliveries continue. Beyond, a delivery waits for its own removal. */
const MAX_REMOVALS = 1000;

export interface DeliveryNeeds extends ExchangeNeeds {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly notifications: NotificationStore;
  /** Every attempt, for the call's log and the metrics. */
  readonly onAttempt: (
    of: { readonly subject: string; readonly event: string },
    attempt: CallbackAttempt,
  ) => void;
}

export class DeliveryQueue {
  readonly #needs: DeliveryNeeds;
  readonly #lanes = new Map<string, Lane>();
  readonly #stopped = new AbortController();
  /** Aborted when another node has taken over what is in memory. */
  #epoch = new AbortController();
  readonly #takenOver = new RecentMap<true>(TAKEN_OVER_LIMIT);
  /** Drafts reported between `fence` and `unfence`; undefined outside of that. */
  #held: NotificationDraft[] | undefined;
  /** What was taken from the store, and may be delivered already. */
  readonly #found = new RecentMap<true>(MAX_QUEUED);
  /** IDs of recently delivered or dropped notifications. The store may still list them. */
  readonly #finished = new RecentMap<true>(FINISHED_LIMIT);
  /** Removals from the store that are under way. The next delivery of a subject does not wait for the commit of the last. */
  readonly #removals = new Set<Promise<void>>();
  #queued = 0;
  /** The store held more at the start than was taken into memory. */
  #moreStored = false;
  #resuming = false;
  #idleWaiters: Array<() => void> = [];

  constructor(needs: DeliveryNeeds) {
    this.#needs = needs;
  }

  get queued(): number {
    return this.#queued;
  }

  /** Keeps the notification and delivers it after those of the same subject that came before. Never throws. */
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
      createdUs: Math.round(clock.wallMs() * 1000),
      attempts: 0,
    };
    const stored = this.#tolerate('keep', notification, () => notifications.put(notification));
    this.#accept(notification, stored);
  }

  /**
   * Delivers one that was written with what it tells of; once, when it was found in the store already: what was written may be
   * known late, when the store failed with the answer.
   */
  notifyStored(notification: StoredNotification): void {
    if (this.#held !== undefined) return;
    if (this.#found.get(notification.id) || this.#knows(notification)) return;
    this.#accept(notification, Promise.resolve());
  }

  /** Resolves once what was told of the subject so far is delivered, or after `limitMs`. */
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

  /** Takes up what nodes left whose life is over, its own among them. Resolves with the number of notifications taken. */
  async resume(): Promise<number> {
    await this.#needs.notifications.adopt();
    return this.#takeStored();
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
        if (this.#knows(notification)) continue;
        if (!this.#accept(notification, Promise.resolve(), this.#bornMs(notification))) continue;
        this.#found.set(notification.id, true);
        taken += 1;
      }
      return taken;
    } finally {
      this.#resuming = false;
    }
  }

  /** Waits for what is queued, at most `graceMs`, then stops; the rest stays in the store. */
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

  /** False when the lane is full and the notification waits in the store alone. */
  #accept(
    notification: StoredNotification,
    stored: Promise<void>,
    bornMs = this.#needs.clock.monotonicMs(),
  ): boolean {
    const lane = this.#lane(notification);
    const full = lane.queued >= lane.limit || this.#queued >= MAX_QUEUED;
    if (lane.overflowed || full) {
      lane.overflowed = true;
      // Marked again once it is stored: a listing before that may have missed it and cleared the mark.
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
      this.#log(notification).warn({ attempts: notification.attempts }, 'notification given up');
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
      // The wait for the lease does not count against the time of the request.
      await this.#needs.lease?.held(signal);
      const result = await outlastingStore(clock, signal, () =>
        withRetries(clock, { policy, attemptsBefore: attempts, signal, failed, once }),
      );
      if (!result.ok && result.error.cause !== 'tooLarge') {
        this.#log(notification).warn({ detail: result.error.detail }, 'notification given up');
        if (leavesBacklog(notification, result.error)) await this.#giveUpBehind(lane, notification);
      }
    }
    signal.throwIfAborted();
    this.#finished.set(notification.id, true);
    const removal = this.#remove(notification);
    if (this.#removals.size >= MAX_REMOVALS) await removal;
  }

  /** Removes a finished notification from the store. A crash before the commit delivers it again. Never rejects. */
  #remove(notification: StoredNotification): Promise<void> {
    const removal = this.#tolerate('remove', notification, () =>
      this.#needs.notifications.remove(notification.id),
    ).finally(() => this.#removals.delete(removal));
    this.#removals.add(removal);
    return removal;
  }

  /**
   * What a campaign told longer ago than `MAX_BACKLOG_AGE_MS` is given up with it: the backlog of a dead server does not grow
   * for ever, and what is told once it is back arrives soon.
   */
  async #giveUpBehind(lane: Lane, failed: StoredNotification): Promise<void> {
    const { clock, notifications } = this.#needs;
    const untilUs = Math.round(clock.wallMs() * 1000) - MAX_BACKLOG_AGE_MS * 1000;
    const dropped = lane.dropBehind(failed, untilUs);
    this.#queued -= dropped;
    await this.#tolerate('remove', failed, async () => {
      const removed = await notifications.removeUntil(lane.of, untilUs);
      if (removed > 0)
        this.#log(failed).warn({ removed, untilUs }, 'earlier notifications given up');
    });
  }

  /** Of one that an earlier process left: only the wall clock can tell how long ago that was. */
  #bornMs({ createdUs }: StoredNotification): number {
    const { clock } = this.#needs;
    return clock.monotonicMs() - Math.max(0, clock.wallMs() - createdUs / 1000);
  }

  /** Brings notifications from the store back into lanes that are at most half full. */
  #refillWhereFree(): void {
    if (this.#queued > MAX_QUEUED / 2 || this.#stopped.signal.aborted) return;
    const lanes = [...this.#lanes.values()];
    if (this.#moreStored && !this.#resuming && !lanes.some((lane) => lane.overflowed)) {
      void this.#takeStored().catch((error: unknown) =>
        this.#needs.logger.error({ error }, 'stored notifications cannot be listed'),
      );
    }
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
      // Else the list would name those whose removal is not committed yet.
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
        // How long it waited in the store is not known: its time limit starts now. Earlier attempts are counted.
        const bornMs = this.#needs.clock.monotonicMs();
        lane.add({ notification, stored: Promise.resolve(), bornMs });
        this.#found.set(notification.id, true);
        this.#queued += 1;
      }
    } catch (error) {
      this.#needs.logger.error({ error }, 'stored notifications cannot be listed');
    } finally {
      lane.endRefill();
    }
    this.#pump(lane);
  }

  /** A store that fails must not keep a notification from being delivered. */
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
