/** Caches the tokens that sign callbacks, so that running calls continue while the store is unavailable. */
import type { Clock } from '../../base/clock.ts';
import { ServiceError } from '../../base/errors.ts';
import type { AccountId } from '../../base/ids.ts';
import { RecentMap } from '../../base/recent-map.ts';
import type { SigningTokens } from './needs.ts';

/** Maximum number of accounts whose tokens are cached. */
const ACCOUNTS_LIMIT = 10_000;
/** Pause between store requests while the store is unavailable, in milliseconds. */
const AGAIN_MS = 1000;

type Tokens = Awaited<ReturnType<SigningTokens['tokensOf']>>;

/**
 * Returns tokens from the store, or the last known tokens while the store is unavailable. Rejects if the account is
 * not cached.
 */
export class KnownTokens implements SigningTokens {
  readonly #store: SigningTokens;
  readonly #known = new RecentMap<{ readonly tokens: Tokens }>(ACCOUNTS_LIMIT);

  constructor(store: SigningTokens) {
    this.#store = store;
  }

  async tokensOf(accountId: AccountId): Promise<Tokens> {
    try {
      const tokens = await this.#store.tokensOf(accountId);
      this.#known.set(accountId, { tokens });
      return tokens;
    } catch (error) {
      const known = this.#known.get(accountId);
      if (known === undefined || !(error instanceof ServiceError)) throw error;
      return known.tokens;
    }
  }
}

/** Repeats `act` while it rejects because the store is unavailable. Rejects with the signal's reason when aborted. */
export async function outlastingStore<T>(
  clock: Clock,
  signal: AbortSignal,
  act: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof ServiceError) || signal.aborted) throw error;
      await clock.sleep(AGAIN_MS, signal);
    }
  }
}
