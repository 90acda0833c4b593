/**
 * Events told in JSON (dialect §3.9, trunk webhooks): once, neither kept nor repeated. Those of one call go out in order.
 */
import type { Clock } from '../../base/clock.ts';
import { type Random, uuid } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import { RecentMap } from '../../base/recent-map.ts';
import { type ExchangeNeeds, exchange } from './exchange.ts';
import {
  CONNECT_TIMEOUT_MS,
  MAX_ACKNOWLEDGEMENT_BYTES,
  MAX_JSON_EVENTS_PER_ACCOUNT,
  NOTIFICATION_READ_TIMEOUT_MS,
} from './settings.ts';
import type { CallbackAttempt, JsonEvent } from './types.ts';

/** Calls that another node has taken over and that are remembered. */
const TAKEN_OVER_LIMIT = 20_000;

export interface JsonEventNeeds extends ExchangeNeeds {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Every attempt, for the call's log and the metrics. */
  readonly onAttempt: (
    of: { readonly subject: string; readonly event: string },
    attempt: CallbackAttempt,
  ) => void;
}

export class JsonEvents {
  readonly #needs: JsonEventNeeds;
  readonly #stopped = new AbortController();
  readonly #takenOver = new RecentMap<true>(TAKEN_OVER_LIMIT);
  /** Aborted when another node has taken over the calls. */
  #epoch = new AbortController();
  /** By account: events under way or waiting for an earlier one of their call. */
  readonly #counts = new Map<string, number>();
  /** By call: the last one that is under way or waits. */
  readonly #last = new Map<string, Promise<void>>();

  constructor(needs: JsonEventNeeds) {
    this.#needs = needs;
  }

  /** Another node has taken over these calls: nothing more is sent about them. */
  fence(callUuids: readonly string[]): void {
    for (const callUuid of callUuids) this.#takenOver.set(callUuid, true);
    this.#epoch.abort(new Error('another node has taken over the callbacks of this one'));
    this.#epoch = new AbortController();
  }

  /** Never throws. */
  post(event: JsonEvent): void {
    const { accountId, callUuid, name } = event;
    if (this.#takenOver.get(callUuid)) return;
    const count = this.#counts.get(accountId) ?? 0;
    if (count >= MAX_JSON_EVENTS_PER_ACCOUNT || this.#stopped.signal.aborted) {
      this.#needs.logger.warn({ accountId, callUuid, event: name }, 'event not sent');
      return;
    }
    this.#counts.set(accountId, count + 1);
    const before = this.#last.get(callUuid) ?? Promise.resolve();
    const { signal } = this.#epoch;
    const sent = before
      .then(() => this.#send(event, signal))
      .catch((error: unknown) => {
        if (signal.aborted) return;
        this.#needs.logger.error({ error, accountId, callUuid, event: name }, 'event failed');
      })
      .finally(() => {
        if (this.#last.get(callUuid) === sent) this.#last.delete(callUuid);
        const left = (this.#counts.get(accountId) ?? 1) - 1;
        if (left === 0) this.#counts.delete(accountId);
        else this.#counts.set(accountId, left);
      });
    this.#last.set(callUuid, sent);
  }

  /** Lets what is under way arrive for at most `graceMs`. */
  async close(graceMs: number): Promise<void> {
    const { clock } = this.#needs;
    const late = Promise.withResolvers<void>();
    const cancel = clock.at(clock.monotonicMs() + graceMs, late.resolve);
    await Promise.race([Promise.all(this.#last.values()), late.promise]);
    cancel();
    this.#stopped.abort(new Error('events closed'));
    this.#epoch.abort(this.#stopped.signal.reason);
  }

  async #send(
    { accountId, callUuid, name, target, body }: JsonEvent,
    signal: AbortSignal,
  ): Promise<void> {
    const { random, onAttempt } = this.#needs;
    if (signal.aborted) return;
    const facts = { Event: name, ...body };
    await exchange(
      this.#needs,
      {
        event: name,
        accountId,
        url: target.url.replace(/#.*$/s, ''),
        method: target.method,
        parameters: Object.entries(facts).map(([key, value]) => [key, String(value ?? '')]),
        json: JSON.stringify(facts),
        headers: { 'X-Vobiz-Event': name, 'X-Vobiz-Request-ID': uuid(random) },
        connectTimeoutMs: CONNECT_TIMEOUT_MS,
        readTimeoutMs: NOTIFICATION_READ_TIMEOUT_MS,
        maxResponseBytes: MAX_ACKNOWLEDGEMENT_BYTES,
      },
      (attempt) => onAttempt({ subject: callUuid, event: name }, attempt),
      signal,
    );
  }
}
