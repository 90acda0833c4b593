/** Lists, replays and tests requests to customers' URLs. */
import { type Clock, wallUs } from '../../base/clock.ts';
import { type AccountId, uuid } from '../../base/ids.ts';
import type { Page, Slice } from '../../base/page.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { type ExchangeNeeds, type ExchangeRequest, exchange } from './exchange.ts';
import { DeliveryJournal, type JournalNeeds } from './journal.ts';
import type { DeliveryStore, NotificationStore } from './needs.ts';
import type { Delivery, DeliveryFilter, HttpMethod } from './types.ts';

/** Limit of a replay or test, ms. A user waits for its result. */
const READ_TIMEOUT_MS = 15_000;
const CONNECT_TIMEOUT_MS = 5000;
const RESPONSE_MAX_BYTES = 100_000;
const PENDING_MAX = 1000;

export interface DeliverySummary {
  readonly deliveries: number;
  readonly failed: number;
  readonly medianMs: number;
  readonly p95Ms: number;
  /** Stored notifications that are retried. At most 1000 are counted. */
  readonly pending: number;
}

export type DeliveryRefusal = { readonly kind: 'unknownDelivery' };

export interface DeliveriesNeeds extends Omit<ExchangeNeeds, 'journal'> {
  readonly clock: Pick<Clock, 'wallMs'> & JournalNeeds['clock'];
  readonly logger: JournalNeeds['logger'];
  readonly store: DeliveryStore;
  readonly notifications: Pick<NotificationStore, 'listPending'>;
  /** Replaces confidential keypad input of the call in a text. */
  withoutConcealed?(callUuid: string, text: string): string;
}

type Exchanged = Parameters<NonNullable<ExchangeNeeds['journal']>['record']>[0];

export class Deliveries {
  readonly #needs: DeliveriesNeeds;
  readonly #journal: DeliveryJournal;

  constructor(needs: DeliveriesNeeds) {
    this.#needs = needs;
    this.#journal = new DeliveryJournal(needs);
  }

  /** Records an exchange. `exchange` calls it after each request. */
  record(
    { attempt: { spanId: _, isUnsent: _unsent, ...attempt }, request, ...bodies }: Exchanged,
    replayOf?: string,
  ): Delivery {
    const { random, clock } = this.#needs;
    const { url, parameters, accountId, json, signs, headers } = request;
    const { status = 0 } = attempt;
    const kept: Delivery = {
      ...bodies,
      attempt,
      isDelivered: status >= 200 && status < 300,
      request: { url, parameters, json, signs, headers },
      id: uuid(random),
      accountId,
      atUs: wallUs(clock),
      callUuid: parameters.find(([name]) => name === 'CallUUID')?.[1] ?? callIn(json),
      replayOf,
    };
    this.#journal.add(this.#withoutConcealed(kept));
    return kept;
  }

  /** Card numbers and other confidential input must not be stored. A replay sends `***` instead. */
  #withoutConcealed(kept: Delivery): Delivery {
    const { callUuid } = kept;
    const { withoutConcealed } = this.#needs;
    if (callUuid === undefined || withoutConcealed === undefined) return kept;
    const shown = (text: string): string => withoutConcealed(callUuid, text);
    const { attempt, request } = kept;
    return {
      ...kept,
      attempt: {
        ...attempt,
        url: shown(attempt.url),
        signedString: attempt.signedString && shown(attempt.signedString),
      },
      requestBody: shown(kept.requestBody),
      request: {
        ...request,
        parameters: request.parameters.map(([name, value]) => [
          name,
          shown(`${name}=${value}`) === `${name}=${value}` ? value : '***',
        ]),
      },
    };
  }

  /** Stores the deliveries that are still in memory. */
  close(): Promise<void> {
    return this.#journal.flush();
  }

  /** Returns the deliveries of the account that match, latest first. */
  async list(accountId: AccountId, filter: DeliveryFilter, slice: Slice): Promise<Page<Delivery>> {
    await this.#journal.flush();
    return this.#needs.store.page(accountId, filter, slice);
  }

  async summary(accountId: AccountId): Promise<DeliverySummary> {
    const all = await this.#needs.store.timings(accountId);
    const times = all.map(({ durationMs }) => durationMs).sort((a, b) => a - b);
    const at = (part: number): number =>
      Math.round(times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0);
    const pending = await this.#needs.notifications.listPending(PENDING_MAX, {
      accountId,
      subject: undefined,
    });
    return {
      deliveries: all.length,
      failed: all.filter(({ isDelivered }) => !isDelivered).length,
      medianMs: at(0.5),
      p95Ms: at(0.95),
      pending: pending.length,
    };
  }

  async get(accountId: AccountId, id: string): Promise<Result<Delivery, DeliveryRefusal>> {
    await this.#journal.flush();
    const found = await this.#needs.store.get(accountId, id);
    return found === undefined ? err({ kind: 'unknownDelivery' }) : ok(found);
  }

  /** Sends the same request again, with a new signature. The response has no effect on the call. */
  async replay(accountId: AccountId, id: string): Promise<Result<Delivery, DeliveryRefusal>> {
    const found = await this.get(accountId, id);
    if (!found.ok) return found;
    const { event, method } = found.value.attempt;
    const { url, parameters, json, signs, headers } = found.value.request;
    const request: ExchangeRequest = {
      ...LIMITS,
      event,
      method,
      accountId,
      url,
      parameters,
      ...(json !== undefined && { json }),
      ...(signs !== undefined && { signs }),
      ...(headers !== undefined && { headers }),
    };
    return ok(await this.#send(request, id));
  }

  /** Sends a signed test request. */
  test(accountId: AccountId, url: string, method: HttpMethod): Promise<Delivery> {
    const parameters = [
      ['Event', 'Test'],
      ['CallUUID', uuid(this.#needs.random)],
      ['From', '14155550100'],
      ['To', '14155550123'],
      ['CallStatus', 'ringing'],
      ['Direction', 'inbound'],
    ] as const;
    return this.#send({ ...LIMITS, event: 'Test', accountId, url, method, parameters });
  }

  async #send(request: ExchangeRequest, replayOf?: string): Promise<Delivery> {
    let made: Delivery | undefined;
    const journal: ExchangeNeeds['journal'] = {
      record: (delivery) => {
        made = this.record(delivery, replayOf);
      },
    };
    const limited = { ...request, ...LIMITS };
    const signal = AbortSignal.timeout(READ_TIMEOUT_MS + CONNECT_TIMEOUT_MS);
    const result = await exchange({ ...this.#needs, journal }, limited, () => undefined, signal);
    // A request that was not sent, for example to an invalid URL, is recorded too.
    return made ?? this.record(unsent(limited, result.ok ? '' : result.error.detail), replayOf);
  }
}

const LIMITS = {
  connectTimeoutMs: CONNECT_TIMEOUT_MS,
  readTimeoutMs: READ_TIMEOUT_MS,
  maxResponseBytes: RESPONSE_MAX_BYTES,
} as const;

const unsent = (request: ExchangeRequest, error: string) => ({
  request,
  requestBody: '',
  responseBody: '',
  attempt: {
    event: request.event,
    url: request.url,
    method: request.method,
    status: undefined,
    error,
    durationMs: 0,
    signedString: '',
  },
});

const callIn = (json: string | undefined): string | undefined =>
  /"call_uuid":"([0-9a-f-]{36})"/i.exec(json ?? '')?.[1];
