import { isEmail } from '../../../../base/email.ts';
import type { AccountId } from '../../../../base/ids.ts';
import { unitsFromMicros } from '../../../../base/money.ts';
import { err, ok, type Result } from '../../../../base/result.ts';
import type { BalanceTerms } from '../../../../domain/account/needs.ts';
import type { Account } from '../../../../domain/account/types.ts';
import type { Balance } from '../../../../domain/ledger/types.ts';
import type { RouteNeeds } from '../../deps.ts';
import { type Failure, invalidField } from '../../http/failure.ts';
import { accountRoute, type Route, readableByToken } from '../../http/route.ts';
import {
  accountIdText,
  nullableHttpUrl,
  nullableText,
  type Static,
  Type,
} from '../../http/schema.ts';
import { amountField, amountOf } from '../../http/values.ts';
import { refused } from '../../refusal.ts';
import { isMasked, showMasked, wrongMask } from '../../wire/masked-url.ts';

const PATH = '/api/v1/Account/{auth_id}/low-balance-alert';
const common = { tag: 'Ledger', errors: 'plain', mainAccountOnly: true } as const;
const params = Type.Object({ auth_id: accountIdText() });
const EMAILS_MAX = 10;

const AlertSchema = Type.Object({
  url: nullableText(),
  emails: Type.Array(Type.String()),
  thresholds: Type.Record(Type.String(), Type.Number(), {
    description:
      'threshold by currency; an alert is sent when the available balance falls below it; 0: no alert',
  }),
});

const AlertBody = Type.Object({
  url: Type.Optional(nullableHttpUrl()),
  emails: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: EMAILS_MAX,
      description: 'email addresses that receive alerts; an empty list turns mails off',
    }),
  ),
  thresholds: Type.Optional(
    Type.Record(Type.String(), amountField(), {
      description: 'threshold in units by currency code; other currencies stay unchanged',
    }),
  ),
});

const addressesOf = (text: string | undefined): string[] =>
  text === undefined ? [] : text.split(',').map((address) => address.trim());

const shown = (account: Account, balances: readonly Balance[]): Static<typeof AlertSchema> => ({
  url: showMasked(account.lowBalanceUrl),
  emails: addressesOf(account.lowBalanceEmail),
  thresholds: Object.fromEntries(
    balances.map(({ currency, lowBalanceThreshold }) => [
      currency,
      unitsFromMicros(lowBalanceThreshold),
    ]),
  ),
});

/** Checks the addresses of a field that contains several, separated by commas. */
function checkAddresses(field: string, addresses: readonly string[]): Failure | undefined {
  const wrong = addresses.find((address) => !isEmail(address));
  return wrong === undefined ? undefined : invalidField(field, `${wrong} is not an e-mail address`);
}

/** Checks that the account has a balance in every currency. */
async function termsOf(
  { ledger }: RouteNeeds,
  accountId: AccountId,
  thresholds: Readonly<Record<string, number>>,
): Promise<Result<readonly BalanceTerms[], Failure>> {
  const held = new Set((await ledger.balances(accountId)).map(({ currency }) => currency));
  const unknown = Object.keys(thresholds).find((currency) => !held.has(currency.toUpperCase()));
  if (unknown !== undefined) {
    return err(invalidField('thresholds', `the account has no balance in ${unknown}`));
  }
  return ok(
    Object.entries(thresholds).map(([currency, units]) => ({
      currency: currency.toUpperCase(),
      terms: { lowBalanceThreshold: amountOf(units) },
    })),
  );
}

const getAlert = readableByToken({
  ...common,
  method: 'GET',
  path: PATH,
  summary: 'Get the low-balance alert settings',
  params,
  reply: AlertSchema,
  run: async ({ ledger }, { access, accountId }) =>
    ok(shown(access.owner, await ledger.balances(accountId))),
});

const setAlert = accountRoute({
  ...common,
  method: 'POST',
  path: PATH,
  summary:
    'Update the low-balance alert settings: thresholds by currency, and the URL and addresses to notify. Absent fields stay unchanged',
  params,
  body: AlertBody,
  reply: AlertSchema,
  async run(needs, { access, accountId, body }) {
    const { url, emails, thresholds = {} } = body;
    const wrong =
      checkAddresses('emails', emails ?? []) ?? wrongMask('url', url, access.owner.lowBalanceUrl);
    if (wrong !== undefined) return err(wrong);
    const terms = await termsOf(needs, accountId, thresholds);
    if (!terms.ok) return terms;
    const patch = {
      ...(url === undefined || isMasked(url) ? {} : { lowBalanceUrl: url || undefined }),
      ...(emails === undefined ? {} : { lowBalanceEmail: emails.join(', ') || undefined }),
    };
    const patched = await needs.accounts.patch(accountId, patch, terms.value);
    if (!patched.ok) return refused(patched.error);
    return ok(shown(patched.value, await needs.ledger.balances(accountId)));
  },
});

export const lowBalanceRoutes: readonly Route[] = [getAlert, setAlert];
