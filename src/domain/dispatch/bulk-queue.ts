/** Queue of bulk destinations: one FIFO queue per account, paced by its concurrency and calls-per-second limits. */

import type { Clock } from '../../base/clock.ts';
import type { AccountId } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { Accounts } from '../account/account.ts';
import type { Account } from '../account/types.ts';
import type { TargetSlot } from '../call/call.ts';
import type { CapacitySlot } from '../capacity/capacity.ts';
import type { Admission, SlotRefusal } from './admission.ts';

/** Poll interval for slots released elsewhere, in ms. */
const RECHECK_MS = 250;

export interface BulkQueueNeeds<Item> {
  readonly accounts: Pick<Accounts, 'get'>;
  readonly admission: Admission;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Maximum number of items per account. */
  readonly limit: number;
  /** Prepares the next item for its start. */
  readonly prepare: (item: Item) => Promise<Prepared>;
}

/** Item that is ready to start. */
export interface Prepared {
  /** Waits briefly for a slot at the item's target; undefined if there is none. Never rejects. */
  targetSlot(): Promise<TargetSlot | undefined>;
  /** Starts the call and takes ownership of both slots, the account's and the target's. Never rejects. */
  start(owner: Account, slot: CapacitySlot, target: TargetSlot): Promise<void>;
}

interface AccountQueue<Item> {
  readonly items: Item[];
  pumping: boolean;
  cancelWake: () => void;
}

export class BulkQueue<Item> {
  readonly #needs: BulkQueueNeeds<Item>;
  readonly #queues = new Map<string, AccountQueue<Item>>();
  /** Items of requests that are being accepted, by account. */
  readonly #reserved = new Map<string, number>();

  constructor(needs: BulkQueueNeeds<Item>) {
    this.#needs = needs;
  }

  /**
   * Reserves room for items that are added later. Returns the function that ends the reservation; undefined if the items do not
   * fit.
   */
  reserve(accountId: AccountId, more: number): (() => void) | undefined {
    const reserved = this.#reserved.get(accountId) ?? 0;
    if (this.waiting(accountId).length + reserved + more > this.#needs.limit) return undefined;
    this.#reserved.set(accountId, reserved + more);
    return () => {
      const left = (this.#reserved.get(accountId) ?? 0) - more;
      if (left === 0) this.#reserved.delete(accountId);
      else this.#reserved.set(accountId, left);
    };
  }

  waiting(accountId: AccountId): readonly Item[] {
    return this.#queues.get(accountId)?.items ?? [];
  }

  add(accountId: AccountId, items: readonly Item[]): void {
    if (items.length === 0) return;
    const queue = this.#queues.get(accountId) ?? {
      items: [],
      pumping: false,
      cancelWake: () => undefined,
    };
    this.#queues.set(accountId, queue);
    queue.items.push(...items);
    this.wake(accountId);
  }

  /** Removes and returns the items to withdraw. */
  remove(accountId: AccountId, isMeant: (item: Item) => boolean): readonly Item[] {
    const queue = this.#queues.get(accountId);
    if (queue === undefined) return [];
    const meant = queue.items.filter(isMeant);
    const rest = queue.items.filter((item) => !isMeant(item));
    queue.items.splice(0, queue.items.length, ...rest);
    return meant;
  }

  /** Removes and returns all items. */
  clear(): readonly Item[] {
    const items = [...this.#queues.values()].flatMap((queue) => {
      queue.cancelWake();
      return queue.items.splice(0);
    });
    this.#queues.clear();
    return items;
  }

  /** Processes the queue, because a slot may be available. */
  wake(accountId: AccountId): void {
    const queue = this.#queues.get(accountId);
    if (queue === undefined || queue.pumping) return;
    queue.cancelWake();
    queue.pumping = true;
    this.#pump(accountId, queue)
      .catch((error: unknown) => {
        this.#needs.logger.error({ error, accountId }, 'bulk queue stalled');
        this.#wakeAfter(accountId, queue, RECHECK_MS);
      })
      .finally(() => {
        queue.pumping = false;
      });
  }

  async #pump(accountId: AccountId, queue: AccountQueue<Item>): Promise<void> {
    const { accounts, admission, prepare } = this.#needs;
    for (;;) {
      const owner = await accounts.get(accountId);
      const next = queue.items[0];
      if (next === undefined || owner === undefined) {
        // After `clear`, the account may have another queue.
        if (this.#queues.get(accountId) === queue) this.#queues.delete(accountId);
        return;
      }
      const prepared = await prepare(next);
      const slot = await admission.takeSlot(owner);
      if (!slot.ok) {
        this.#wakeAfter(accountId, queue, waitOf(slot.error));
        return;
      }
      const target = admission.begins() ? await prepared.targetSlot() : undefined;
      // The item may have been withdrawn during the awaits.
      const isNext = queue.items[0] === next;
      if (isNext && target !== undefined) {
        queue.items.shift();
        void prepared.start(owner, slot.value, target);
        continue;
      }
      target?.undo();
      slot.value.undo();
      if (!isNext) continue;
      this.#wakeAfter(accountId, queue, RECHECK_MS);
      return;
    }
  }

  #wakeAfter(accountId: AccountId, queue: AccountQueue<Item>, waitMs: number): void {
    const { clock } = this.#needs;
    queue.cancelWake = clock.at(clock.monotonicMs() + waitMs, () => this.wake(accountId));
  }
}

/** A calls-per-second refusal says when to retry; a concurrency refusal does not. */
const waitOf = (refusal: SlotRefusal): number =>
  refusal.kind === 'cps' ? refusal.retryAfterMs : RECHECK_MS;
