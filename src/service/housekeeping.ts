/** What happens beside the calls: rentals, retention, alerts, and the drain at the end. */
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Mailer } from '../base/mailer.ts';
import { unitsFromMicros } from '../base/money.ts';
import type { Settings } from '../config/schema.ts';
import type { Accounts } from '../domain/account/account.ts';
import type { CallbackClient } from '../domain/callback/callback.ts';
import { expireCalls } from '../domain/cdr/cdr.ts';
import type { CallKeeper } from '../domain/dispatch/dispatch.ts';
import type { Ledger } from '../domain/ledger/ledger.ts';
import type { Balance } from '../domain/ledger/types.ts';
import type { Provisioning } from '../domain/provisioning/provisioning.ts';
import type { Recordings } from '../domain/recording/recording.ts';
import type { Store } from '../edge/store/store.ts';

const HOUR_MS = 3_600_000;
const DRAIN_LOOK_MS = 100;

/** A setting of 0 keeps things; nothing here is older than a century. */
const FOREVER_DAYS = 36_500;
const orForever = (days: number): number => (days === 0 ? FOREVER_DAYS : days);

export interface HousekeepingNeeds {
  readonly store: Store;
  readonly accounts: Accounts;
  readonly ledger: Ledger;
  readonly provisioning: Provisioning;
  readonly recordings: Recordings;
  readonly callbacks: CallbackClient;
  readonly mailer: Mailer;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: Settings;
}

export class Housekeeping {
  readonly #needs: HousekeepingNeeds;
  readonly #stopping = new AbortController();
  #rounds: Promise<void> = Promise.resolve();

  constructor(needs: HousekeepingNeeds) {
    this.#needs = needs;
  }

  start(): void {
    this.#rounds = this.#everyHour();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#rounds;
  }

  /** After each settlement: whoever falls below the threshold is told, once per fall. */
  balanceChanged(accountId: string, currency: string): void {
    this.#alert(accountId, currency).catch((error: unknown) => {
      this.#needs.logger.error({ error, accountId }, 'low-balance alert failed');
    });
  }

  /** Running calls may go on for `limitMs`; then they are ended. */
  async drain(keeper: CallKeeper, limitMs: number): Promise<void> {
    const { clock } = this.#needs;
    const endMs = clock.monotonicMs() + limitMs;
    while (keeper.live().length > 0 && clock.monotonicMs() < endMs)
      await clock.sleep(DRAIN_LOOK_MS);
    for (const call of keeper.live()) call.hangup('normal', 'Platform', 'the service stops');
  }

  async #everyHour(): Promise<void> {
    const { clock, logger } = this.#needs;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#round().catch((error: unknown) => logger.error({ error }, 'housekeeping failed'));
      await clock.sleep(HOUR_MS, signal).catch(() => undefined); // stopped
    }
  }

  async #round(): Promise<void> {
    const { provisioning, recordings, store, clock, settings } = this.#needs;
    await provisioning.numbers.completeReleases();
    await provisioning.numbers.chargeRentals();
    const { recordingDays, cdrDays, callLogDays } = settings.retention;
    await recordings.expire(orForever(recordingDays));
    await expireCalls(store.retention, clock, {
      calls: orForever(cdrDays),
      logs: orForever(callLogDays),
    });
  }

  async #alert(accountId: string, currency: string): Promise<void> {
    const { ledger, accounts } = this.#needs;
    const balance = await ledger.takeLowBalanceAlert(accountId, currency);
    const account = balance && (await accounts.get(accountId));
    if (balance === undefined || account === undefined) return;
    this.#needs.logger.warn({ accountId, currency }, 'balance is low');
    const parameters = alertParameters(balance);
    if (account.lowBalanceUrl !== undefined) {
      this.#needs.callbacks.notify({
        accountId,
        callUuid: `balance:${balance.id}`,
        event: 'LowBalance',
        target: { url: account.lowBalanceUrl, method: 'POST' },
        parameters,
      });
    }
    if (account.lowBalanceEmail !== undefined) {
      await this.#needs.mailer.send({
        to: account.lowBalanceEmail,
        subject: `Low balance of ${accountId}`,
        text: parameters.map(([name, value]) => `${name}: ${value}`).join('\n'),
      });
    }
  }
}

const alertParameters = (balance: Balance): readonly (readonly [string, string])[] => [
  ['Event', 'LowBalance'],
  ['ParentAuthID', balance.accountId],
  ['Currency', balance.currency],
  ['AvailableBalance', String(unitsFromMicros(balance.balance - balance.reservedFunds))],
  ['LowBalanceThreshold', String(unitsFromMicros(balance.lowBalanceThreshold))],
];
