import type { AccountId } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { Mail } from '../../base/mailer.ts';
import { unitsFromMicros } from '../../base/money.ts';
import type { NotificationDraft } from '../callback/types.ts';
import type { Renewal } from './numbers.ts';

export interface RenewalNoticeNeeds {
  /** Returns URL and addresses for notices about money. */
  readonly recipients: (accountId: AccountId) => Promise<
    | {
        readonly lowBalanceUrl: string | undefined;
        /** One address, or several separated by commas. */
        readonly lowBalanceEmail: string | undefined;
      }
    | undefined
  >;
  /** Stores the notification and delivers it. Returns immediately. */
  readonly notify: (draft: NotificationDraft) => void;
  readonly mail: (mail: Mail) => Promise<void>;
  readonly logger: Logger;
}

/**
 * Notifies the owner of a suspended or reactivated number: `NumberSuspended` or `NumberReactivated` to
 * `low_balance_url`, and an e-mail to `low_balance_email`.
 */
export async function notifyRenewal(
  { recipients, notify, mail, logger }: RenewalNoticeNeeds,
  { number, isPaid }: Renewal,
): Promise<void> {
  const { accountId, e164 } = number;
  if (accountId === undefined) return;
  const event = isPaid ? 'NumberReactivated' : 'NumberSuspended';
  logger.warn({ accountId, number: e164 }, isPaid ? 'number is active again' : 'number suspended');
  const to = await recipients(accountId);
  const parameters: NotificationDraft['parameters'] = [
    ['Event', event],
    ['ParentAuthID', accountId],
    ['Number', e164],
    ['MonthlyFee', String(unitsFromMicros(number.monthlyFeeMicros))],
    ['Currency', number.currency],
  ];
  if (to?.lowBalanceUrl !== undefined) {
    const target = { url: to.lowBalanceUrl, method: 'POST' } as const;
    notify({ accountId, subject: `number:${e164}`, event, target, parameters });
  }
  if (to?.lowBalanceEmail === undefined) return;
  await mail({
    to: to.lowBalanceEmail,
    subject: isPaid ? `Number +${e164} is active again` : `Number +${e164} is suspended`,
    text: parameters.map(([name, value]) => `${name}: ${value}`).join('\n'),
  });
}
