import { describe, expect, it } from 'vitest';
import { asAccountId } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import type { Mail } from '../../../src/base/mailer.ts';
import type { NotificationDraft } from '../../../src/domain/callback/types.ts';
import { notifyRenewal } from '../../../src/domain/provisioning/renewal-notices.ts';
import type { PhoneNumber } from '../../../src/domain/provisioning/types.ts';

const ACCOUNT = asAccountId('MA_A');
const number = {
  e164: '14155550100',
  accountId: ACCOUNT,
  monthlyFeeMicros: 2_500_000,
  currency: 'EUR',
} as PhoneNumber;

async function notified(
  to: { readonly lowBalanceUrl?: string; readonly lowBalanceEmail?: string } | undefined,
  renewal: Parameters<typeof notifyRenewal>[1],
) {
  const drafts: NotificationDraft[] = [];
  const mails: Mail[] = [];
  await notifyRenewal(
    {
      recipients: async () =>
        to && { lowBalanceUrl: to.lowBalanceUrl, lowBalanceEmail: to.lowBalanceEmail },
      notify: (draft) => drafts.push(draft),
      mail: async (mail) => void mails.push(mail),
      logger: silentLogger,
    },
    renewal,
  );
  return { drafts, mails };
}

describe('the owner of a number', () => {
  it('learns by callback and mail that it is suspended', async () => {
    const to = { lowBalanceUrl: 'https://a.example/low', lowBalanceEmail: 'a@a.example' };
    expect(await notified(to, { number, isPaid: false })).toEqual({
      drafts: [
        {
          accountId: ACCOUNT,
          subject: 'number:14155550100',
          event: 'NumberSuspended',
          target: { url: 'https://a.example/low', method: 'POST' },
          parameters: [
            ['Event', 'NumberSuspended'],
            ['ParentAuthID', ACCOUNT],
            ['Number', '14155550100'],
            ['MonthlyFee', '2.5'],
            ['Currency', 'EUR'],
          ],
        },
      ],
      mails: [
        {
          to: 'a@a.example',
          subject: 'Number +14155550100 is suspended',
          text: `Event: NumberSuspended\nParentAuthID: ${ACCOUNT}\nNumber: 14155550100\nMonthlyFee: 2.5\nCurrency: EUR`,
        },
      ],
    });
  });

  it('learns that it is active again', async () => {
    const to = { lowBalanceUrl: 'https://a.example/low' };
    const { drafts, mails } = await notified(to, { number, isPaid: true });
    expect(drafts.map(({ event }) => event)).toEqual(['NumberReactivated']);
    expect(mails).toEqual([]);
    const byMail = await notified({ lowBalanceEmail: 'a@a.example' }, { number, isPaid: true });
    expect(byMail.drafts).toEqual([]);
    expect(byMail.mails[0]?.subject).toBe('Number +14155550100 is active again');
  });

  it('gets nothing without a URL and an address, or if the number has no owner', async () => {
    const nothing = { drafts: [], mails: [] };
    expect(await notified({}, { number, isPaid: false })).toEqual(nothing);
    expect(await notified(undefined, { number, isPaid: false })).toEqual(nothing);
    const free = { ...number, accountId: undefined };
    const to = { lowBalanceUrl: 'https://a.example/low', lowBalanceEmail: 'a@a.example' };
    expect(await notified(to, { number: free, isPaid: false })).toEqual(nothing);
  });
});
