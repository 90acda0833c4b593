import { ServiceError } from '../../base/errors.ts';
import type { CallUuid } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import { ok, type Result } from '../../base/result.ts';
import type { ReserveRefusal } from '../ledger/types.ts';
import type { CallStore, OpenCall, Settlement } from './needs.ts';

/**
 * Keeps running calls alive while the store refuses writes (disk full, data folder missing). The record of a call is
 * written with a later heartbeat, and a further pulse counts as reserved. New calls and answers still fail, because
 * they must be stored first.
 */
export class OpenRecords implements CallStore {
  readonly #store: CallStore;
  readonly #log: Logger;
  /** Settled calls with updates in progress. The results of these updates are not kept. */
  readonly #over = new Set<CallUuid>();
  /** Updates in progress of each call: their number, and the newest record. */
  readonly #updating = new Map<CallUuid, { readonly count: number; readonly newest: OpenCall }>();
  /** Calls whose answer is stored. */
  readonly #answered = new Set<CallUuid>();
  /** Latest record of each call whose stored record is outdated. */
  readonly #stale = new Map<CallUuid, OpenCall>();

  constructor(store: CallStore, log: Logger) {
    this.#store = store;
    this.#log = log;
  }

  open: CallStore['open'] = (...given) => this.#store.open(...given);

  openAhead: CallStore['openAhead'] = (...given) => this.#store.openAhead(...given);

  discard: CallStore['discard'] = (call) => this.#store.discard(call);

  listOpen: CallStore['listOpen'] = (whose) => this.#store.listOpen(whose);

  async extendReservation(
    callUuid: CallUuid,
    reserved: Parameters<CallStore['extendReservation']>[1],
  ): Promise<Result<void, ReserveRefusal>> {
    try {
      return await this.#store.extendReservation(callUuid, reserved);
    } catch (error) {
      this.#tolerate(error, callUuid, 'reservation not raised');
      return ok(undefined);
    }
  }

  async update(call: OpenCall): Promise<void> {
    const { callUuid, answerUs } = call.cdr;
    const count = (this.#updating.get(callUuid)?.count ?? 0) + 1;
    this.#updating.set(callUuid, { count, newest: call });
    this.#stale.delete(callUuid);
    try {
      await this.#store.update(call);
      if (answerUs !== undefined) this.#answered.add(callUuid);
    } catch (error) {
      if (this.#updating.get(callUuid)?.newest === call) this.#stale.set(callUuid, call);
      if (!this.#answered.has(callUuid)) throw error;
      this.#tolerate(error, callUuid, 'open record not up to date');
    } finally {
      this.#updated(callUuid);
    }
  }

  #updated(callUuid: CallUuid): void {
    const updating = this.#updating.get(callUuid);
    const left = (updating?.count ?? 0) - 1;
    if (updating !== undefined && left > 0)
      this.#updating.set(callUuid, { ...updating, count: left });
    else this.#updating.delete(callUuid);
    if (!this.#over.has(callUuid)) return;
    this.#stale.delete(callUuid);
    this.#answered.delete(callUuid);
    if (left <= 0) this.#over.delete(callUuid);
  }

  async heartbeat(beats: Parameters<CallStore['heartbeat']>[0]): Promise<void> {
    await this.#store.heartbeat(beats);
    for (const { callUuid, atUs } of beats) {
      const stale = this.#stale.get(callUuid);
      if (stale !== undefined) await this.update({ ...stale, heartbeatUs: atUs });
    }
  }

  async settle(settlement: Settlement): Promise<boolean> {
    const { callUuid } = settlement.cdr;
    this.#stale.delete(callUuid);
    const isFirst = await this.#store.settle(settlement);
    this.#answered.delete(callUuid);
    // A failure of a late update would keep its record.
    if (this.#updating.has(callUuid)) this.#over.add(callUuid);
    return isFirst;
  }

  #tolerate(error: unknown, callUuid: CallUuid, what: string): void {
    if (!(error instanceof ServiceError)) throw error;
    this.#log.warn({ callUuid, code: error.code }, what);
  }
}
