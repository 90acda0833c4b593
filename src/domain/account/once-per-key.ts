import { UnknownOutcomeError } from '../../base/errors.ts';
import { hashHex } from '../../base/hash.ts';
import { notingWrites } from '../../base/noted-writes.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { IdempotencyStore } from './needs.ts';

export type IdempotencyConflict = { readonly kind: 'idempotencyConflict' };
type Outcome = Result<Once<unknown>, unknown>;

/** Result of a request. `replayed` is true if an earlier request with the same key did the work. */
export interface Once<T> {
  readonly value: T;
  readonly replayed: boolean;
}

/** Runs requests with an `Idempotency-Key` once. A repeated request receives the stored response of the first. */
export class OncePerKey {
  readonly #store: IdempotencyStore;
  /** Requests in progress, so that a repeated request can wait for the result. */
  readonly #running = new Map<
    string,
    { readonly fingerprint: string; readonly outcome: Promise<Outcome> }
  >();

  constructor(store: IdempotencyStore) {
    this.#store = store;
  }

  /**
   * Runs `work` unless a request with the same key succeeded before. `requested` is the JSON content that identifies the
   * request. Only successes are stored; after a refusal the key is free again. It stays in use if the work may have been
   * done and its response is unknown.
   */
  async run<T, E>(
    from: { readonly owner: string; readonly key: string; readonly requested: unknown },
    work: () => Promise<Result<T, E>>,
  ): Promise<Result<Once<T>, E | IdempotencyConflict>> {
    const { owner, key } = from;
    const fingerprint = hashHex('sha256', JSON.stringify(sorted(from.requested)));
    const id = `${owner} ${key}`;
    const running = this.#running.get(id);
    if (running !== undefined) {
      if (running.fingerprint !== fingerprint) return CONFLICT;
      const outcome = (await running.outcome) as Result<Once<T>, E>;
      return outcome.ok ? ok({ value: outcome.value.value, replayed: true }) : outcome;
    }
    const outcome = this.#begin(owner, key, fingerprint, work);
    this.#running.set(id, { fingerprint, outcome });
    try {
      return await outcome;
    } finally {
      this.#running.delete(id);
    }
  }

  async #begin<T, E>(
    owner: string,
    key: string,
    fingerprint: string,
    work: () => Promise<Result<T, E>>,
  ): Promise<Result<Once<T>, E | IdempotencyConflict>> {
    const known = await this.#store.begin(owner, key, fingerprint);
    if (known.kind === 'done') {
      const { value } = JSON.parse(known.response) as { readonly value: T };
      return ok({ value, replayed: true });
    }
    if (known.kind !== 'first') return CONFLICT;
    const done = await this.#worked(owner, key, work);
    if (!done.ok) return done;
    // Without a stored response the key stays in use: a repeat gets a conflict and does not do the work again.
    await this.#store
      .finish(owner, key, JSON.stringify({ value: done.value }))
      .catch(() => undefined);
    return ok({ value: done.value, replayed: false });
  }

  /** Does the work. Frees the key if it had no effect: after a refusal, or after a failure before its first write. */
  #worked<T, E>(
    owner: string,
    key: string,
    work: () => Promise<Result<T, E>>,
  ): Promise<Result<T, E>> {
    return notingWrites(async (hasWritten) => {
      try {
        const done = await work();
        if (!done.ok) await this.#store.forget(owner, key);
        return done;
      } catch (error) {
        const mayBeDone = hasWritten() || error instanceof UnknownOutcomeError;
        if (!mayBeDone) await this.#store.forget(owner, key);
        throw error;
      }
    });
  }
}

const CONFLICT: Result<never, IdempotencyConflict> = err({ kind: 'idempotencyConflict' });

/** Sorts object members, so that requests that differ only in member order count as the same request. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => [name, sorted(member)]);
}
