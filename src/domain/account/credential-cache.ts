import type { AccountId } from '../../base/ids.ts';
import type { AccountCredentials, AccountStore } from './needs.ts';

/** Maximum number of cached accounts. The oldest entry is evicted first. */
const CACHED_CREDENTIALS_LIMIT = 10_000;

/** Caches accounts and their tokens, because every request and every call needs them. */
export class CredentialCache {
  readonly #store: AccountStore;
  readonly #reported: (authId: AccountId) => void;
  readonly #known = new Map<string, AccountCredentials>();
  /** Incremented by every change, so that the result of a concurrent read is not cached. */
  #generation = 0;

  /** `reported` is called for each account that this process changes, so that other processes can drop their copy. */
  constructor(store: AccountStore, reported: (authId: AccountId) => void) {
    this.#store = store;
    this.#reported = reported;
  }

  async get(authId: AccountId): Promise<AccountCredentials | undefined> {
    const known = this.#known.get(authId);
    if (known !== undefined) return known;
    const generation = this.#generation;
    const found = await this.#store.credentials(authId);
    if (found === undefined || generation !== this.#generation) return found;
    if (this.#known.size >= CACHED_CREDENTIALS_LIMIT) {
      const oldest = this.#known.keys().next();
      if (!oldest.done) this.#known.delete(oldest.value);
    }
    this.#known.set(authId, found);
    return found;
  }

  /** Must be called after every write to the account. */
  changed(authId: AccountId): void {
    this.forget(authId);
    this.#reported(authId);
  }

  /** Drops one account from the cache, or all accounts if `authId` is undefined. */
  forget(authId: AccountId | undefined): void {
    this.#generation += 1;
    if (authId === undefined) this.#known.clear();
    else this.#known.delete(authId);
  }
}
