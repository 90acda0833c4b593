/** Stores the latest requests to customers' URLs in batches, for display and replay. */
import type { Clock } from '../../base/clock.ts';
import type { AccountId } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { DeliveryStore } from './needs.ts';
import type { Delivery, DeliveryRequest } from './types.ts';

/** Stored requests per account. */
const PER_ACCOUNT = 500;
/** Interval between two batches, ms. */
const EVERY_MS = 1000;
/** Requests per account and batch. Beyond it, only failed ones are stored, up to twice the number. */
const PER_BATCH = 20;
/** Requests of all accounts per batch. */
const BATCH_MAX = 400;
/** Characters of a body that are stored. */
const BODY_MAX = 16_384;
/** Size of the parameters and JSON of a request, in characters. Larger requests are not stored. */
const REQUEST_MAX = 65_536;

export interface JournalNeeds {
  readonly store: Pick<DeliveryStore, 'put'>;
  readonly clock: Pick<Clock, 'monotonicMs' | 'at'>;
  readonly logger: Pick<Logger, 'warn'>;
}

export class DeliveryJournal {
  readonly #needs: JournalNeeds;
  #batch: Delivery[] = [];
  /** Number of deliveries in the batch by account. */
  readonly #counts = new Map<AccountId, number>();
  #cancel: (() => void) | undefined;
  #storing: Promise<void> = Promise.resolve();

  constructor(needs: JournalNeeds) {
    this.#needs = needs;
  }

  /** Adds a delivery to the next batch, unless the batch has enough deliveries of the account. */
  add(delivery: Delivery): void {
    const { accountId, request } = delivery;
    const count = this.#counts.get(accountId) ?? 0;
    const most = delivery.isDelivered ? PER_BATCH : 2 * PER_BATCH;
    if (count >= most || this.#batch.length >= BATCH_MAX || sizeOf(request) > REQUEST_MAX) return;
    this.#counts.set(accountId, count + 1);
    this.#batch.push({
      ...delivery,
      requestBody: delivery.requestBody.slice(0, BODY_MAX),
      responseBody: delivery.responseBody.slice(0, BODY_MAX),
    });
    const { clock } = this.#needs;
    this.#cancel ??= clock.at(clock.monotonicMs() + EVERY_MS, () => void this.flush());
  }

  /** Stores the batch. Never rejects; if the database does not answer, the batch is lost. */
  flush(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    const batch = this.#batch;
    this.#batch = [];
    this.#counts.clear();
    if (batch.length > 0) this.#storing = this.#storing.then(() => this.#store(batch));
    return this.#storing;
  }

  async #store(batch: readonly Delivery[]): Promise<void> {
    const { store, logger } = this.#needs;
    try {
      await store.put(batch, PER_ACCOUNT);
    } catch (error) {
      logger.warn({ error, deliveries: batch.length }, 'webhook deliveries not stored');
    }
  }
}

const sizeOf = ({ url, parameters, json = '' }: DeliveryRequest): number =>
  url.length +
  json.length +
  parameters.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
