import { useEffect, useMemo, useState } from 'preact/hooks';
import { call, callOnce, get, number, part, type Row, rows, text } from '../api.ts';
import { money, secondOf, sourceName } from '../format.ts';
import { useAction, useFields, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import type { PageProps } from '../page-props.ts';
import { t } from '../text.ts';
import { typedNumber } from '../typed-number.ts';
import { Chart } from '../ui/chart.tsx';
import { Input, Save } from '../ui/form.tsx';
import { confirmed, FormDrawer } from '../ui/overlay.tsx';
import { Card, Head, LoadProblem, Skeleton, Tiles } from '../ui/parts.tsx';
import { Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';
import { Ledger } from './ledger.tsx';

/** Balance, ledger and invoices. Waits for the currency of the account. */
export function Billing(props: PageProps) {
  const owner = useLoad(props.account, () => get(`/api/v1/Account/${props.account}/`));
  if (owner.value !== undefined)
    return <Books {...props} currency={text(owner.value['currency']) || 'USD'} />;
  return owner.problem === undefined ? <Skeleton /> : <LoadProblem of={owner} />;
}

function Books({ account, isStaff, currency }: PageProps & { readonly currency: string }) {
  const balance = useLoad(`${account} ${currency}`, () =>
    get(`/api/v1/Account/${account}/balance/${currency}`),
  );
  const { value } = balance;
  return (
    <>
      <Head title={t('Billing')} about={t('Balance, charges and invoices of this account.')}>
        <LowBalance account={account} currency={currency} done={balance.again} />
        {isStaff && may('money') && (
          <Credit
            account={account}
            currency={currency}
            balance={number(value?.['balance'])}
            done={balance.again}
          />
        )}
      </Head>
      <LoadProblem of={balance} />
      {value && (
        <Tiles
          of={[
            { name: t('Available'), value: money(value['available_balance'], currency) },
            { name: t('Balance'), value: money(value['balance'], currency) },
            {
              name: t('Reserved for running calls'),
              value: money(value['reserved_funds'], currency),
            },
            { name: t('Credit limit'), value: money(value['credit_limit'], currency) },
            { name: t('Alert below'), value: money(value['low_balance_threshold'], currency) },
          ]}
        />
      )}
      <Usage account={account} currency={currency} balance={number(value?.['balance'])} />
      <Ledger account={account} currency={currency} balance={value} />
      <Invoices account={account} />
    </>
  );
}

const DAY_MS = 86_400_000;
/** Days in the charts, if there is no earlier use. */
const DAYS = 14;

/** Adds the days without use until today. */
function eachDay(used: readonly Row[]): readonly Row[] {
  const known = new Map(used.map((day) => [text(day['period']).slice(0, 10), day]));
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const first = used[0] === undefined ? today : Date.parse(text(used[0]['period']));
  const from = Math.min(first, today - (DAYS - 1) * DAY_MS);
  return Array.from({ length: Math.round((today - from) / DAY_MS) + 1 }, (_, at) => {
    const period = new Date(from + at * DAY_MS).toISOString().slice(0, 10);
    return known.get(period) ?? { period, amounts: [] };
  });
}

interface UsageProps {
  readonly account: string;
  readonly currency: string;
  readonly balance: number;
}

/** Daily totals of the ledger as lines of the charts. */
function useDays({ account, currency, balance }: UsageProps) {
  const found = useLoad(`${account} ${balance}`, () => get(`/api/v1/Account/${account}/usage`));
  const data = useMemo(() => {
    const days = eachDay(rows(found.value?.['usage']));
    const own = (day: Row) => rows(day['amounts']).filter((one) => one['currency'] === currency);
    const sum = (day: Row, name: string) =>
      own(day).reduce((total, one) => total + number(one[name]), 0);
    const sources = [...new Set(days.flatMap((day) => own(day).map(({ source }) => text(source))))];
    const spent = (day: Row, source: string) =>
      own(day)
        .filter((one) => one['source'] === source)
        .reduce((total, one) => total + number(one['charged']), 0);
    const used = sources.filter((source) => days.some((day) => spent(day, source) > 0));
    // The balance at the end of each day, from today backwards.
    let after = balance;
    const ends = days
      .toReversed()
      .map((day) => {
        const end = after;
        after -= sum(day, 'credited') - sum(day, 'charged');
        return end;
      })
      .toReversed();
    return {
      // The service adds up days of UTC. The charts name them by their date, also in other zones.
      times: days.map(
        (day) => Date.parse(secondOf(text(day['period']).slice(0, 10), 'first')) / 1000,
      ),
      spending: used.map((name) => ({
        name: sourceName(name),
        values: days.map((day) => spent(day, name)),
      })),
      balance: [{ name: t('Balance'), values: ends }],
    };
  }, [found.value, currency, balance]);
  return { found, data };
}

/** Balance over time and spending by day. */
function Usage(props: UsageProps) {
  const { currency } = props;
  const { found, data } = useDays(props);
  return (
    <>
      <LoadProblem of={found} />
      <div class="columns">
        <Card title={t('Balance')} unit={currency}>
          {found.value !== undefined ? (
            <Chart title={t('Balance')} unit={currency} times={data.times} series={data.balance} />
          ) : (
            <p class="muted">{t('No entries yet.')}</p>
          )}
        </Card>
        <Card title={t('Spending by day')} unit={currency}>
          {data.spending.length > 0 ? (
            <Chart
              isBars
              title={t('Spending by day')}
              unit={currency}
              times={data.times}
              series={data.spending}
            />
          ) : (
            <p class="muted">{t('No spending yet.')}</p>
          )}
        </Card>
      </div>
    </>
  );
}

interface Booking {
  readonly account: string;
  readonly currency: string;
  readonly done: () => void;
}

interface CreditProps extends Booking {
  readonly balance: number;
}

/** Amount and description of a credit or debit, and the function that books it. */
function useCredit({ account, currency, balance, done }: CreditProps) {
  const { fields, setFields, set } = useFields({ amount: '', description: '' });
  const action = useAction();
  const value = Number(fields.amount);
  const isValid = fields.amount !== '' && Number.isFinite(value) && value !== 0;
  const book = () =>
    action.run(async () => {
      if (!isValid) throw new Error(t('Enter an amount other than 0, for example 25 or -2.50.'));
      if (value < 0) {
        const isSure = await confirmed({
          title: t('Debit {amount}?', { amount: money(-value, currency) }),
          detail: t('The balance of {account} becomes {balance}.', {
            account,
            balance: money(balance + value, currency),
          }),
          action: t('Debit account'),
        });
        if (!isSure) return;
      }
      await callOnce(`/admin/v1/accounts/${account}/credit`, {
        amount: value,
        currency,
        description: fields.description,
      });
      toast(value < 0 ? t('The account is debited.') : t('The credit is added.'));
      setFields({ amount: '', description: '' });
      done();
    });
  return { fields, set, value, isValid, action, book };
}

/** Button and form that credit or debit the account. */
function Credit(props: CreditProps) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  const { currency, balance, done } = props;
  const { fields, set, value, isValid, action, book } = useCredit({
    ...props,
    done: () => {
      close();
      done();
    },
  });
  const problems = action.fields;
  return (
    <>
      <button type="button" class="btn primary" onClick={() => setOpen(true)}>
        {t('Add credit')}
      </button>
      <FormDrawer
        title={t('Add credit')}
        isOpen={isOpen}
        close={close}
        submit={value < 0 ? t('Debit account') : t('Add credit')}
        problem={action.problem}
        isBusy={action.isBusy}
        act={() => void book()}
      >
        <Input
          label={t('Amount, {currency}', { currency })}
          hint={t('A negative amount debits the account')}
          value={fields.amount}
          set={set('amount')}
          problem={problems['amount']}
          required
        />
        <Input
          label={t('Description')}
          value={fields.description}
          set={set('description')}
          problem={problems['description']}
          required
        />
        {isValid && (
          <div class="callout">
            {t('Balance afterwards: {balance}', { balance: money(balance + value, currency) })}
          </div>
        )}
      </FormDrawer>
    </>
  );
}

/** Settings of the alert with their changes in the form, and the function that saves them. */
function useAlert(path: string, currency: string, isOpen: boolean, done: () => void) {
  const found = useLoad(`${path} ${isOpen}`, () => get(path));
  const [changes, setChanges] = useState<Partial<AlertFields>>({});
  useEffect(() => setChanges({}), [isOpen]);
  const { problem, fields: problems, isBusy, run } = useAction();
  const known = found.value;
  const fields: AlertFields = {
    threshold: text(part(known?.['thresholds'])[currency]),
    emails: Array.isArray(known?.['emails']) ? known['emails'].join(', ') : '',
    url: text(known?.['url']),
    ...changes,
  };
  const set = (name: keyof AlertFields) => (value: string) =>
    setChanges((before) => ({ ...before, [name]: value }));
  const save = () =>
    run(async () => {
      const { emails, threshold, url } = changes;
      // Without the settings, which may not be loaded, unchanged fields must not be sent.
      await call('POST', path, {
        ...(emails !== undefined && {
          emails: emails
            .split(',')
            .map((one) => one.trim())
            .filter((one) => one !== ''),
        }),
        ...(threshold !== undefined && {
          thresholds: { [currency]: typedNumber(threshold || '0') },
        }),
        ...(url !== undefined && { url }),
      });
      toast(t('The alert is saved.'));
      done();
    });
  return { fields, set, save, problem: problem ?? found.problem, problems, isBusy };
}

interface AlertFields {
  readonly threshold: string;
  readonly emails: string;
  readonly url: string;
}

function LowBalance({ account, currency, done }: Booking) {
  const [isOpen, setOpen] = useState(false);
  const path = `/api/v1/Account/${account}/low-balance-alert`;
  const { fields, set, save, problem, problems, isBusy } = useAlert(path, currency, isOpen, () => {
    setOpen(false);
    done();
  });
  if (!may('money')) return null;
  return (
    <>
      <button type="button" class="btn" onClick={() => setOpen(true)}>
        {t('Edit low-balance alert')}
      </button>
      <FormDrawer
        title={t('Edit low-balance alert')}
        isOpen={isOpen}
        close={() => setOpen(false)}
        submit={t('Save alert')}
        problem={problem}
        isBusy={isBusy}
        act={() => void save()}
      >
        <Input
          label={t('Alert below ({currency})', { currency })}
          value={fields.threshold}
          set={set('threshold')}
          problem={problems['thresholds']}
        />
        <Input
          label={t('Email addresses')}
          hint={t('Separated by commas')}
          value={fields.emails}
          set={set('emails')}
          problem={problems['emails']}
        />
        <Input
          label={t('Webhook URL')}
          type="url"
          value={fields.url}
          set={set('url')}
          problem={problems['url']}
        />
      </FormDrawer>
    </>
  );
}

const MONTHS = 12;

/** Invoices of the latest months. */
function Invoices({ account }: { readonly account: string }) {
  const now = new Date();
  const months = Array.from({ length: MONTHS }, (_, back) => {
    const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1));
    return { month: month.toISOString().slice(0, 7) };
  });
  const path = `/api/v1/Account/${account}/invoices`;
  return (
    <Card title={t('Invoices')} flush>
      <Table
        name={t('Invoices')}
        rows={months}
        keyOf={(row) => text(row['month'])}
        empty=""
        columns={[
          {
            title: t('Month'),
            value: (row) =>
              new Date(`${text(row['month'])}-15`).toLocaleDateString(undefined, {
                month: 'long',
                year: 'numeric',
              }),
          },
          {
            title: t('Invoice'),
            isActions: true,
            value: (row) => (
              <Save
                path={`${path}/${text(row['month'])}/pdf`}
                name={`invoice-${text(row['month'])}.pdf`}
              >
                {t('Download PDF')}
              </Save>
            ),
          },
        ]}
      />
    </Card>
  );
}
