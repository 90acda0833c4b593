import { useState } from 'preact/hooks';
import { call, get, messageOf, part, type Row, rows, text } from '../api.ts';
import { words } from '../format.ts';
import { useLoad, useSettled } from '../hooks.ts';
import type { PageProps } from '../page-props.ts';
import { t } from '../text.ts';
import type { FieldSpec } from '../ui/editor.tsx';
import { Input, optionsOf } from '../ui/form.tsx';
import { confirmed } from '../ui/overlay.tsx';
import { Card, Head, LoadProblem } from '../ui/parts.tsx';
import { Resource } from '../ui/resource.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';
import { ImportLink } from './import-link.tsx';

interface Found {
  readonly country: string;
  readonly currency: string;
  readonly rates: readonly Row[];
}

const shown = (rate: unknown): string => (rate === null || rate === undefined ? '—' : text(rate));
const rateIn = (from: unknown, name: string): unknown => part(part(from)[name])['rate'];

/** Prices of calls and numbers of a country for the account; for the operator also the price list. */
export function Rates({ account, isStaff }: PageProps) {
  const owner = useLoad(account, () => get(`/api/v1/Account/${account}/`));
  const [typed, setTyped] = useState<string>();
  const country = useSettled(typed ?? text(owner.value?.['country']))
    .trim()
    .toUpperCase();
  const isCountry = /^[A-Z]{2}$/.test(country);
  const found = useLoad(`${account} ${country}`, async () =>
    isCountry
      ? foundIn(await get(`/api/v1/Account/${account}/Pricing/?country_iso=${country}`))
      : undefined,
  );
  return (
    <>
      <Head title={t('Rates')} about={t('Prices of calls and numbers for this account.')}>
        {isStaff && <ImportLink kind="rates" />}
      </Head>
      <Card title={t('Rates of a country')}>
        <div class="filters">
          <Input
            label={t('Country (two letters)')}
            value={typed ?? text(owner.value?.['country'])}
            set={setTyped}
          />
        </div>
        <LoadProblem of={found} />
        {found.value && (
          <Table
            name={t('Rates of {country}', { country: found.value.country })}
            rows={found.value.rates}
            keyOf={(row) => text(row['what'])}
            empty=""
            columns={[
              { title: found.value.country, value: (row) => text(row['what']) },
              {
                title: t('{currency} per minute', { currency: found.value.currency }),
                value: (row) => shown(row['rate']),
                sort: (row) => Number(row['rate'] ?? 0),
                isNumber: true,
              },
              {
                title: t('Billed by'),
                value: (row) => text(row['step']),
                isNumber: true,
                isMinor: true,
              },
            ]}
          />
        )}
      </Card>
      {isStaff && <PriceList />}
    </>
  );
}

/** A rate of the price list file applies again after the removal of one that replaced it. */
async function removeRate(row: Row): Promise<void> {
  const names = ['direction', 'prefix', 'currency', 'account_id'] as const;
  const used = names.filter((name) => text(row[name]) !== '');
  const isSure = await confirmed({
    title: t('Delete this rate?'),
    detail: t('If the price list file has a rate for it, that rate applies again.'),
    action: t('Delete rate'),
  });
  if (!isSure) return;
  const query = new URLSearchParams(used.map((name) => [name, text(row[name])]));
  await call('DELETE', `/admin/v1/rates?${query}`).catch((error: unknown) =>
    toast(messageOf(error), 'bad'),
  );
}

const PRICE_COLUMNS: readonly Column[] = [
  {
    title: t('Direction'),
    value: (row) => words(row['direction']),
    sort: (row) => text(row['direction']),
  },
  {
    title: t('Prefix'),
    value: (row) => text(row['prefix']) || t('All'),
    sort: (row) => text(row['prefix']),
  },
  {
    title: t('Per minute'),
    value: (row) => text(row['per_minute']),
    sort: (row) => Number(row['per_minute']),
    isNumber: true,
  },
  {
    title: t('Billed per, s'),
    value: (row) => text(row['pulse_seconds']),
    isNumber: true,
    isMinor: true,
  },
  {
    title: t('Currency'),
    value: (row) => text(row['currency']),
    sort: (row) => text(row['currency']),
  },
  {
    title: t('Account'),
    value: (row) => <code>{text(row['account_id'])}</code>,
    isMinor: true,
  },
];

const PRICE_FIELDS: readonly FieldSpec[] = [
  {
    name: 'direction',
    label: t('Direction'),
    kind: 'select',
    initial: 'outbound',
    options: optionsOf([
      'outbound',
      'inbound',
      'sip',
      'stream',
      'recording',
      'transcription',
      'number',
    ]),
  },
  { name: 'prefix', label: t('Prefix'), hint: t('Digits; empty: all numbers') },
  { name: 'per_minute', label: t('Per minute'), kind: 'number', required: true },
  { name: 'pulse_seconds', label: t('Billed per, seconds'), kind: 'number', initial: '60' },
  { name: 'currency', label: t('Currency'), initial: 'USD', required: true },
  { name: 'account_id', label: t('Account'), hint: t('Empty: all accounts') },
];

/** Rates in force. A rate replaces one with the same direction, prefix, currency and account. */
const PriceList = () => (
  <Resource
    title={t('Price list')}
    noun={t('rate')}
    path="/admin/v1/rates"
    member="rates"
    pages="none"
    need="money"
    deletes={false}
    isEditable={false}
    actionsOf={(row, again) => [
      {
        label: t('Delete rate'),
        act: () => removeRate(row).then(again),
        isDanger: true,
        need: 'money',
      },
    ]}
    idOf={(row) =>
      `${text(row['direction'])} ${text(row['prefix'])} ${text(row['currency'])} ${text(row['account_id'])}`
    }
    nameOf={(row) => `${text(row['direction'])} ${text(row['prefix'])}`}
    emptyTitle={t('No rates yet.')}
    columns={PRICE_COLUMNS}
    fields={PRICE_FIELDS}
  />
);

function foundIn(prices: Row): Found {
  const voice = part(prices['voice']);
  const outbound = part(voice['outbound']);
  return {
    country: text(prices['country']),
    currency: text(prices['currency']),
    rates: [
      { what: t('Calls to its numbers'), rate: rateIn(outbound, 'local') },
      ...rows(outbound['rates']).map((one) => ({
        what: t('Calls to +{prefixes} …', {
          prefixes: [one['prefix']].flat().map(text).join(', +'),
        }),
        rate: one['rate'],
        step: `${text(one['billing_increment_seconds'])} s`,
      })),
      { what: t('Calls to SIP addresses'), rate: rateIn(outbound, 'ip') },
      { what: t('Calls from its numbers'), rate: rateIn(voice['inbound'], 'local') },
      { what: t('Calls from SIP phones'), rate: rateIn(voice['inbound'], 'ip') },
    ],
  };
}
