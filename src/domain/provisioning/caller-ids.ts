import type { AccountId } from '../../base/ids.ts';
import { nowUs, type ProvisioningContext } from './context.ts';
import type { CallerIdStore } from './needs.ts';
import type { CallerId } from './types.ts';

/** Manages the caller IDs that an account may present. */
export class CallerIds {
  readonly #store: CallerIdStore;
  readonly #context: ProvisioningContext;

  constructor(store: CallerIdStore, context: ProvisioningContext) {
    this.#store = store;
    this.#context = context;
  }

  /** Adds a number that the operator verified as the account's. Idempotent. */
  async verify(accountId: AccountId, e164: string): Promise<CallerId> {
    const callerId = { accountId, e164, createdUs: nowUs(this.#context) };
    await this.#store.add(callerId);
    return callerId;
  }

  remove(accountId: AccountId, e164: string): Promise<boolean> {
    return this.#store.remove(accountId, e164);
  }

  list(accountId: AccountId): Promise<readonly CallerId[]> {
    return this.#store.list(accountId);
  }

  /** Returns whether the number is verified, or rented by the account. */
  owns(accountId: AccountId, e164: string): Promise<boolean> {
    return this.#store.owns(accountId, e164);
  }
}
