/** Numbers that can be bought, and the inventory of the service. */
import { call, get, type Row, rows, text } from '../api.ts';
import { money, words } from '../format.ts';
import { useAction, useLoad, useSettled } from '../hooks.ts';
import { may } from '../may.ts';
import { useQuery } from '../place.ts';
import { t } from '../text.ts';
import { Input } from '../ui/form.tsx';
import { confirmed } from '../ui/overlay.tsx';
import { Badge, Empty, LoadProblem, Problem } from '../ui/parts.tsx';
import { Resource } from '../ui/resource.tsx';
import { Pager, Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';

const PER_PAGE = 25;

export function Market({ account }: { readonly account: string }) {
  const { fields, setAll } = useQuery({ view: 'buy', page: '1', q: '', country: '' });
  const search = useSettled(`${fields.q}|${fields.country}`);
  const page = Number(fields.page);
  const query = new URLSearchParams({ page: String(page), per_page: String(PER_PAGE) });
  if (fields.q !== '') query.set('search', fields.q);
  if (/^[A-Za-z]{2}$/.test(fields.country)) query.set('country', fields.country.toUpperCase());
  const found = useLoad(`${account} ${page} ${search}`, () =>
    get(`/api/v1/Account/${account}/inventory/numbers?${query}`),
  );
  const { problem, run } = useAction();
  const list = found.value && rows(found.value['items']);
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
      call('POST', `/api/v1/Account/${account}/numbers/purchase-from-inventory`, {
        e164: row['e164'],
      }),
    );
    if (isDone) toast(t('{name} belongs to the account now.', { name: text(row['e164']) }));
    found.again();
  };
  return (
    <section class="stack">
      <div class="filters">
        <Input
          label={t('Part of the number')}
          type="search"
          value={fields.q}
          set={(q) => setAll({ q, page: '1' })}
        />
        <Input
          label={t('Country (two letters)')}
          value={fields.country}
          set={(country) => setAll({ country, page: '1' })}
        />
      </div>
      <LoadProblem of={found} />
      <Problem text={problem} />
      <Table
        name={t('Numbers for sale')}
        rows={list}
        problem={found.problem}
        keyOf={(row) => text(row['e164'])}
        empty={
          <Empty title={t('No number is for sale.')}>
            <p>{t('The operator adds numbers to the inventory of the service.')}</p>
          </Empty>
        }
        columns={[
          {
            title: t('Number'),
            value: (row) => text(row['e164']),
            sort: (row) => text(row['e164']),
          },
          { title: t('Country'), value: (row) => text(row['country']) },
          { title: t('Region'), value: (row) => text(row['region']), isMinor: true },
          {
            title: t('Setup'),
            value: (row) => money(row['setup_fee'], row['currency']),
            isNumber: true,
            isMinor: true,
          },
          {
            title: t('Per month'),
            value: (row) => money(row['monthly_fee'], row['currency']),
            sort: (row) => Number(row['monthly_fee']),
            isNumber: true,
          },
          {
            title: t('Buy'),
            isActions: true,
            value: (row) =>
              may('change') && (
                <button type="button" class="btn tiny" onClick={() => void buy(row)}>
                  {t('Buy number')}
                </button>
              ),
          },
        ]}
      />
      <Pager
        page={page}
        set={(next) => setAll({ page: String(next) })}
        perPage={PER_PAGE}
        shown={list?.length ?? 0}
        total={Number(found.value?.['total'] ?? 0)}
      />
    </section>
  );
}

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
      { title: t('Number'), value: (row) => text(row['e164']), sort: (row) => text(row['e164']) },
      { title: t('Account'), value: (row) => <code>{text(row['account_id'])}</code> },
      { title: t('Country'), value: (row) => text(row['country']), isMinor: true },
      { title: t('Carrier'), value: (row) => text(row['provider']), isMinor: true },
      {
        title: t('State'),
        value: (row) => (
          <Badge tone={row['status'] === 'active' ? 'good' : 'none'}>{words(row['status'])}</Badge>
        ),
      },
      {
        title: t('Per month'),
        value: (row) => money(row['monthly_fee'], row['currency']),
        isNumber: true,
      },
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
