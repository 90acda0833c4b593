import type { AccountId } from '../../base/ids.ts';
import { nowUs, type ProvisioningContext } from './context.ts';
import type { CallerIdStore } from './needs.ts';
import type { CallerId } from './types.ts';

/** Numbers that an account may show as its own. */
export class CallerIds {
  readonly #store: CallerIdStore;
  readonly #context: ProvisioningContext;

  constructor(store: CallerIdStore, context: ProvisioningContext) {
    this.#store = store;
    this.#context = context;
  }

  /** The operator has verified that the number is the account's. Adding it again changes nothing. */
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

  /** Verified, or a number that the account rents. */
  owns(accountId: AccountId, e164: string): Promise<boolean> {
    return this.#store.owns(accountId, e164);
  }
}
