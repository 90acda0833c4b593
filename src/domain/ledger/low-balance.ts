import type { AccountId } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { Mail } from '../../base/mailer.ts';
import { unitsFromMicros } from '../../base/money.ts';
import type { NotificationDraft } from '../callback/types.ts';
import type { LedgerStore } from './needs.ts';
import type { LowBalanceAlert } from './types.ts';

/** Number of alerts sent per batch. */
const BATCH = 100;
const EVENT = 'LowBalance';

export interface LowBalanceNeeds {
  readonly store: Pick<LedgerStore, 'lowBalanceAlerts' | 'lowBalanceTold'>;
  /** Returns the alert recipients of an account. */
  readonly recipients: (accountId: AccountId) => Promise<Recipients | undefined>;
  /** Stores the notification and delivers it. Returns immediately. */
  readonly notify: (draft: NotificationDraft) => void;
  readonly mail: (mail: Mail) => Promise<void>;
  /** Also alerts the operator. */
  readonly operator?: (alert: LowBalanceAlert) => void;
  readonly logger: Logger;
}

interface Recipients {
  readonly lowBalanceUrl: string | undefined;
  /** One address, or several separated by commas. */
  readonly lowBalanceEmail: string | undefined;
}

/**
 * Notifies accounts whose available balance fell below its threshold (spec: low-balance alerts), whatever the cause.
 * Stored alerts are sent at least once; after a crash, the next process sends them.
 */
export class LowBalanceAlerts {
  readonly #needs: LowBalanceNeeds;
  #notifying = false;
  #again = false;

  constructor(needs: LowBalanceNeeds) {
    this.#needs = needs;
  }

  /** Sends all stored alerts. Called at the start, and when the store reports that a balance fell below its threshold. */
  async notify(): Promise<void> {
    this.#again = true;
    if (this.#notifying) return;
    this.#notifying = true;
    try {
      while (this.#again) {
        this.#again = false;
        await this.#tellNoted();
      }
    } catch (error) {
      this.#needs.logger.error({ error }, 'failed to send low-balance alerts');
    } finally {
      this.#notifying = false;
    }
  }

  async #tellNoted(): Promise<void> {
    const { store } = this.#needs;
    let after = -1;
    for (;;) {
      const alerts = await store.lowBalanceAlerts(after, BATCH);
      for (const alert of alerts) {
        // An alert that cannot be sent stays stored, and must not delay those after it.
        after = alert.id;
        if (await this.#one(alert)) await store.lowBalanceTold(alert.id);
      }
      if (alerts.length < BATCH) return;
    }
  }

  /** Returns false if the account cannot be read, which must not delay the alerts of other accounts. */
  async #one(alert: LowBalanceAlert): Promise<boolean> {
    const { recipients, operator, logger } = this.#needs;
    const { accountId, currency } = alert;
    let to: Recipients | undefined;
    try {
      to = await recipients(accountId);
    } catch (error) {
      logger.error({ error, accountId }, 'low-balance alert not sent');
      return false;
    }
    operator?.(alert);
    logger.warn({ accountId, currency }, 'balance is low');
    if (to !== undefined) this.#send(alert, to);
    return true;
  }

  #send(alert: LowBalanceAlert, to: Recipients): void {
    const { notify, mail, logger } = this.#needs;
    const { accountId, balanceId } = alert;
    if (to.lowBalanceUrl !== undefined) {
      notify({
        accountId,
        subject: `balance:${balanceId}`,
        event: EVENT,
        target: { url: to.lowBalanceUrl, method: 'POST' },
        parameters: parametersOf(alert),
      });
    }
    if (to.lowBalanceEmail === undefined) return;
    // Not awaited: a slow mail server must not delay the alerts of other accounts.
    void mail({
      to: to.lowBalanceEmail,
      subject: `Low balance of ${accountId}`,
      text: parametersOf(alert)
        .map(([name, value]) => `${name}: ${value}`)
        .join('\n'),
    }).catch((error: unknown) => logger.error({ error, accountId }, 'low-balance mail not sent'));
  }
}

const parametersOf = (alert: LowBalanceAlert): NotificationDraft['parameters'] => [
  ['Event', EVENT],
  ['ParentAuthID', alert.accountId],
  ['Currency', alert.currency],
  ['AvailableBalance', String(unitsFromMicros(alert.available))],
  ['LowBalanceThreshold', String(unitsFromMicros(alert.threshold))],
];
