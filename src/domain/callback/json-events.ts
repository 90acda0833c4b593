/**
 * Sends JSON events once, without storing or retrying them (dialect §3.9, trunk webhooks). Events of one call are
 * sent in order.
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

/** Maximum number of remembered calls that another node has taken over. */
const TAKEN_OVER_LIMIT = 20_000;

export interface JsonEventNeeds extends ExchangeNeeds {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Called after every attempt, for the call log and the metrics. */
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
  /** Number of events per account, in progress or waiting for an earlier event of their call. */
  readonly #counts = new Map<string, number>();
  /** Last event per call that is in progress or waiting. */
  readonly #last = new Map<string, Promise<void>>();

  constructor(needs: JsonEventNeeds) {
    this.#needs = needs;
  }

  /** Stops sending events of calls that another node has taken over. */
  fence(callUuids: readonly string[]): void {
    for (const callUuid of callUuids) this.#takenOver.set(callUuid, true);
    this.#epoch.abort(new Error('another node has taken over the callbacks of this one'));
    this.#epoch = new AbortController();
  }

  /** Sends an event after earlier ones of the same call. Never throws. */
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

  /** Waits up to `graceMs` for events in progress. */
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
