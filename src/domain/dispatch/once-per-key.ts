import { hashHex } from '../../base/hash.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { IdempotencyStore } from '../account/needs.ts';
import type { PlaceCallsRefusal, PlaceCallsRequest, PlacedCalls } from './control.ts';

type Placing = Result<PlacedCalls, PlaceCallsRefusal>;

/** Requests with an `Idempotency-Key`: the same one again answers as the first did, and places nothing. */
export class OncePerKey {
  readonly #store: IdempotencyStore;
  /** Requests that are being worked on, so that a repeat can wait for them. */
  readonly #running = new Map<
    string,
    { readonly fingerprint: string; placing: Promise<Placing> }
  >();

  constructor(store: IdempotencyStore) {
    this.#store = store;
  }

  async place(request: PlaceCallsRequest, work: () => Promise<Placing>): Promise<Placing> {
    const { idempotencyKey: key, ...rest } = request;
    if (key === undefined) return work();
    const fingerprint = hashHex('sha256', JSON.stringify(rest));
    const owner = request.subAccount ?? request.accountId;
    const id = `${owner} ${key}`;
    const running = this.#running.get(id);
    if (running !== undefined) {
      return running.fingerprint === fingerprint ? running.placing : CONFLICT;
    }
    const placing = this.#begin(owner, key, fingerprint, work);
    this.#running.set(id, { fingerprint, placing });
    try {
      return await placing;
    } finally {
      this.#running.delete(id);
    }
  }

  async #begin(
    owner: string,
    key: string,
    fingerprint: string,
    work: () => Promise<Placing>,
  ): Promise<Placing> {
    const outcome = await this.#store.begin(owner, key, fingerprint);
    switch (outcome.kind) {
      case 'done':
        return ok(JSON.parse(outcome.response) as PlacedCalls);
      case 'running':
      case 'mismatch':
        return CONFLICT;
      case 'first':
        break;
    }
    try {
      const placed = await work();
      if (placed.ok) await this.#store.finish(owner, key, JSON.stringify(placed.value));
      else await this.#store.forget(owner, key);
      return placed;
    } catch (error) {
      await this.#store.forget(owner, key);
      throw error;
    }
  }
}

const CONFLICT: Placing = err({ kind: 'idempotencyConflict' });
