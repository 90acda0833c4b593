/** What signs callbacks, also while the store is away: a running call's requests and notifications go on. */
import type { Clock } from '../../base/clock.ts';
import { ServiceError } from '../../base/errors.ts';
import type { AccountId } from '../../base/ids.ts';
import { RecentMap } from '../../base/recent-map.ts';
import type { SigningTokens } from './needs.ts';

/** Accounts whose tokens are remembered. */
const ACCOUNTS_LIMIT = 10_000;
/** Pause before the store is asked again. */
const AGAIN_MS = 1000;

type Tokens = Awaited<ReturnType<SigningTokens['tokensOf']>>;

/** The store's answer; the last one that it gave, while it gives none. Rejects for an account that was never asked for. */
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

/** Does `act` again and again, while it rejects because the store is away. Rejects with the signal's reason when aborted. */
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
