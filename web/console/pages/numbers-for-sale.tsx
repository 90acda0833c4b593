/** Numbers that can be bought, and the inventory of the service. */
import { useState } from 'preact/hooks';
import { callOnce, type Row, text } from '../api.ts';
import { money, words } from '../format.ts';
import { useAction } from '../hooks.ts';
import { useQuery } from '../place.ts';
import { t } from '../text.ts';
import { Input } from '../ui/form.tsx';
import { confirmed } from '../ui/overlay.tsx';
import { Badge, Problem } from '../ui/parts.tsx';
import { Resource } from '../ui/resource.tsx';
import type { Column } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';

export const NUMBER: Column = {
  title: t('Number'),
  value: (row) => text(row['e164']),
  sort: (row) => text(row['e164']),
};
export const COUNTRY: Column = {
  title: t('Country'),
  value: (row) => text(row['country']),
  sort: (row) => text(row['country']),
  isMinor: true,
};
export const PER_MONTH: Column = {
  title: t('Per month'),
  value: (row) => money(row['monthly_fee'], row['currency']),
  sort: (row) => Number(row['monthly_fee']),
  isNumber: true,
};

/** Buys a number after a confirmation. `round` counts the purchases. */
function usePurchase(account: string) {
  const { problem, run } = useAction();
  const [round, setRound] = useState(0);
  const buy = async (row: Row) => {
    const isSure = await confirmed({
      title: t('Buy {name}?', { name: text(row['e164']) }),
      detail: t('Now: {setup}. Each month: {monthly}.', {
        setup: money(Number(row['setup_fee']) + Number(row['monthly_fee']), row['currency']),
        monthly: money(row['monthly_fee'], row['currency']),
      }),
      action: t('Buy number'),
      isDanger: false,
    });
    if (!isSure) return;
    const isDone = await run(() =>
      callOnce(`/api/v1/Account/${account}/numbers/purchase-from-inventory`, { e164: row['e164'] }),
    );
    if (isDone) toast(t('{name} belongs to the account now.', { name: text(row['e164']) }));
    setRound(round + 1);
  };
  return { problem, round, buy };
}

/** Numbers that the account can buy. */
export function Market({ account }: { readonly account: string }) {
  const { fields, setAll } = useQuery({ view: 'own', page: '1', country: '' });
  const { problem, round, buy } = usePurchase(account);
  const isCountry = /^[A-Za-z]{2}$/.test(fields.country);
  return (
    <>
      <Problem text={problem} />
      <Resource
        key={round}
        title={t('Numbers for sale')}
        noun={t('number')}
        path={`/api/v1/Account/${account}/inventory/numbers`}
        member="items"
        pages="page"
        search="search"
        searchLabel={t('Part of the number')}
        deletes={false}
        idOf={(row) => text(row['e164'])}
        nameOf={(row) => text(row['e164'])}
        query={isCountry ? { country: fields.country.toUpperCase() } : {}}
        isFiltered={isCountry}
        filters={
          <Input
            label={t('Country (two letters)')}
            value={fields.country}
            set={(country) => setAll({ country, page: '1' })}
          />
        }
        emptyTitle={t('No number is for sale.')}
        emptyDetail={t('The operator adds numbers to the inventory of the service.')}
        columns={columnsOf(buy)}
      />
    </>
  );
}

const columnsOf = (buy: (row: Row) => Promise<void>): readonly Column[] => [
  NUMBER,
  COUNTRY,
  { title: t('Region'), value: (row) => text(row['region']), isMinor: true },
  {
    title: t('Setup'),
    value: (row) => money(row['setup_fee'], row['currency']),
    sort: (row) => Number(row['setup_fee']),
    isNumber: true,
    isMinor: true,
  },
  PER_MONTH,
  {
    title: t('Buy'),
    isActions: true,
    need: 'change',
    value: (row) => (
      <button type="button" class="btn tiny" onClick={() => void buy(row)}>
        {t('Buy number')}
      </button>
    ),
  },
];

/** Numbers of the whole service, for the operator. */
export const Inventory = () => (
  <Resource
    title={t('Inventory')}
    noun={t('number')}
    path="/admin/v1/numbers"
    member="numbers"
    search="search"
    searchLabel={t('Part of the number')}
    isEditable={false}
    idOf={(row) => text(row['e164']).replace('+', '')}
    nameOf={(row) => text(row['e164'])}
    deleteDetail={t('Only a number without an account can be removed.')}
    emptyTitle={t('The inventory is empty.')}
    emptyDetail={t('Add numbers that carriers route to this service.')}
    columns={[
      NUMBER,
      {
        title: t('Account'),
        value: (row) =>
          row['account_id'] == null ? (
            <span class="muted">{t('For sale')}</span>
          ) : (
            <code>{text(row['account_id'])}</code>
          ),
        sort: (row) => text(row['account_id']),
      },
      COUNTRY,
      { title: t('Carrier'), value: (row) => text(row['provider']), isMinor: true },
      {
        title: t('State'),
        value: (row) => (
          <Badge tone={row['status'] === 'active' ? 'good' : 'none'}>{words(row['status'])}</Badge>
        ),
      },
      PER_MONTH,
    ]}
    fields={[
      { name: 'e164', label: t('Number'), hint: t('E.164 format'), required: true },
      { name: 'country', label: t('Country (two letters)'), required: true },
      { name: 'region', label: t('Region') },
      { name: 'setup_fee', label: t('Setup fee'), kind: 'number', initial: '0' },
      { name: 'monthly_fee', label: t('Monthly fee'), kind: 'number', initial: '0' },
      { name: 'currency', label: t('Currency'), initial: 'USD', required: true },
      { name: 'carrier', label: t('Carrier') },
      { name: 'account_id', label: t('Account'), hint: t('Empty: the number is for sale') },
    ]}
  />
);
