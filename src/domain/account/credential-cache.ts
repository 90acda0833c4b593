import type { AccountId } from '../../base/ids.ts';
import type { AccountCredentials, AccountStore } from './needs.ts';

/** Credentials kept in memory; the oldest leaves first. */
const CACHED_CREDENTIALS_LIMIT = 10_000;

/** Accounts with their tokens, read once: every request and every call asks for them. */
export class CredentialCache {
  readonly #store: AccountStore;
  readonly #told: (authId: AccountId) => void;
  readonly #known = new Map<string, AccountCredentials>();
  /** Rises with every change, so that a read that was under way during one is not kept. */
  #generation = 0;

  /** `told`: of accounts that are changed here, for other processes that know them. */
  constructor(store: AccountStore, told: (authId: AccountId) => void) {
    this.#store = store;
    this.#told = told;
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

  /** To be called after every write to the account. */
  changed(authId: AccountId): void {
    this.forget(authId);
    this.#told(authId);
  }

  /** Undefined: all of them. */
  forget(authId: AccountId | undefined): void {
    this.#generation += 1;
    if (authId === undefined) this.#known.clear();
    else this.#known.delete(authId);
  }
}
