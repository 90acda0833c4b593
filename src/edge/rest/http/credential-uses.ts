/** Stores the last use of each account's API credentials in batches, for display on all nodes. */
import { type Clock, wallUs } from '../../../base/clock.ts';
import type { AccountId } from '../../../base/ids.ts';
import type { Logger } from '../../../base/logger.ts';
import type { CredentialUse, CredentialUseStore } from '../../../domain/account/needs.ts';

/** Interval between two batches, ms. */
const EVERY_MS = 5000;
/** Accounts per batch. Further ones are counted in the next batch that has room. */
const ACCOUNTS_MAX = 5000;
const AGENT_MAX = 200;

export interface CredentialUsesNeeds {
  readonly store: Pick<CredentialUseStore, 'add' | 'get'>;
  readonly clock: Pick<Clock, 'wallMs' | 'monotonicMs' | 'at'>;
  readonly logger: Pick<Logger, 'warn'>;
}

export class CredentialUses {
  readonly #needs: CredentialUsesNeeds;
  #uses = new Map<AccountId, CredentialUse>();
  #cancel: (() => void) | undefined;
  #storing: Promise<void> = Promise.resolve();

  constructor(needs: CredentialUsesNeeds) {
    this.#needs = needs;
  }

  /** Records a request with valid credentials. */
  used(accountId: AccountId, address: string, userAgent: string): void {
    const { clock } = this.#needs;
    const known = this.#uses.get(accountId);
    if (known === undefined && this.#uses.size >= ACCOUNTS_MAX) return;
    this.#uses.set(accountId, {
      atUs: wallUs(clock),
      address,
      userAgent: userAgent.slice(0, AGENT_MAX),
      requests: (known?.requests ?? 0) + 1,
    });
    this.#cancel ??= clock.at(clock.monotonicMs() + EVERY_MS, () => void this.flush());
  }

  async lastOf(accountId: AccountId): Promise<CredentialUse | undefined> {
    await this.flush();
    return this.#needs.store.get(accountId);
  }

  /** Stores the batch. Never rejects; if the database does not answer, the batch is lost. */
  flush(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    const uses = [...this.#uses];
    this.#uses = new Map();
    if (uses.length > 0) this.#storing = this.#storing.then(() => this.#store(uses));
    return this.#storing;
  }

  async #store(uses: readonly (readonly [AccountId, CredentialUse])[]): Promise<void> {
    const { store, logger } = this.#needs;
    try {
      await store.add(uses);
    } catch (error) {
      logger.warn({ error, accounts: uses.length }, 'uses of API credentials not stored');
    }
  }
}
