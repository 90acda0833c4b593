/** Keeps the latest requests to customers' URLs in memory, for display and replay. */
import type { AccountId } from '../../base/ids.ts';
import type { ExchangeRequest } from './exchange.ts';
import type { CallbackAttempt } from './types.ts';

/** Requests per account. */
const PER_ACCOUNT = 500;
/** Accounts with requests. The account without a request for the longest time is dropped first. */
const ACCOUNTS = 2000;
/** Characters of a body that are kept. */
const BODY_MAX = 16_384;
/** Size of all kept bodies, in characters. Above it, the oldest request of the largest account is dropped. */
const BODIES_MAX = 64 * 1024 * 1024;

export interface Delivery {
  readonly id: string;
  readonly accountId: AccountId;
  /** Time of the answer, microseconds UTC. */
  readonly atUs: number;
  readonly attempt: CallbackAttempt;
  readonly callUuid: string | undefined;
  readonly requestBody: string;
  readonly responseBody: string;
  readonly request: ExchangeRequest;
  /** ID of the delivery that was replayed. */
  readonly replayOf: string | undefined;
}

export interface DeliveryFilter {
  readonly callUuid?: string | undefined;
  readonly event?: string | undefined;
  readonly isDelivered?: boolean | undefined;
  /** Part of the URL, or the call UUID. */
  readonly search?: string | undefined;
}

export const isDelivered = ({ attempt: { status } }: Delivery): boolean =>
  status !== undefined && status >= 200 && status < 300;

export class DeliveryJournal {
  /** Deliveries by account, oldest first. The account that was used last is the last one. */
  readonly #accounts = new Map<AccountId, Delivery[]>();
  #size = 0;

  add(delivery: Delivery): void {
    const kept = {
      ...delivery,
      requestBody: delivery.requestBody.slice(0, BODY_MAX),
      responseBody: delivery.responseBody.slice(0, BODY_MAX),
    };
    const list = this.#accounts.get(delivery.accountId) ?? [];
    this.#accounts.delete(delivery.accountId);
    this.#accounts.set(delivery.accountId, list);
    list.push(kept);
    this.#size += sizeOf(kept);
    while (list.length > PER_ACCOUNT) this.#drop(delivery.accountId);
    while (this.#accounts.size > ACCOUNTS) this.#forget();
    while (this.#size > BODIES_MAX && this.#accounts.size > 0) this.#drop(this.#largest());
  }

  /** Returns the deliveries of the account that match, latest first. */
  list(accountId: AccountId, filter: DeliveryFilter = {}): readonly Delivery[] {
    return (this.#accounts.get(accountId) ?? []).filter((one) => fits(one, filter)).reverse();
  }

  get(accountId: AccountId, id: string): Delivery | undefined {
    return this.#accounts.get(accountId)?.find((one) => one.id === id);
  }

  #drop(accountId: AccountId): void {
    const list = this.#accounts.get(accountId);
    const dropped = list?.shift();
    if (dropped !== undefined) this.#size -= sizeOf(dropped);
    if (list?.length === 0) this.#accounts.delete(accountId);
  }

  #forget(): void {
    for (const [accountId, list] of this.#accounts) {
      for (const one of list) this.#size -= sizeOf(one);
      this.#accounts.delete(accountId);
      return;
    }
  }

  #largest(): AccountId {
    let [largest] = this.#accounts.keys();
    for (const [accountId, list] of this.#accounts) {
      const most = largest === undefined ? 0 : (this.#accounts.get(largest)?.length ?? 0);
      if (list.length > most) largest = accountId;
    }
    return largest as AccountId;
  }
}

const sizeOf = ({ requestBody, responseBody, request }: Delivery): number =>
  requestBody.length + responseBody.length + request.url.length + (request.json?.length ?? 0);

function fits(
  delivery: Delivery,
  { callUuid, event, isDelivered: wanted, search }: DeliveryFilter,
) {
  const { attempt } = delivery;
  if (callUuid !== undefined && delivery.callUuid !== callUuid) return false;
  if (event !== undefined && attempt.event.toLowerCase() !== event.toLowerCase()) return false;
  if (wanted !== undefined && isDelivered(delivery) !== wanted) return false;
  const told = `${attempt.url} ${delivery.callUuid ?? ''}`.toLowerCase();
  return search === undefined || told.includes(search.toLowerCase());
}
