import { useState } from 'preact/hooks';
import { call, get, type Row, rows, text } from '../api.ts';
import { money, words } from '../format.ts';
import { useAction, useLoad, useSettled } from '../hooks.ts';
import type { PageProps } from '../page-props.ts';
import { useQuery } from '../place.ts';
import { t } from '../text.ts';
import { Input, Select } from '../ui/form.tsx';
import { Actions, confirmed, FormDrawer } from '../ui/overlay.tsx';
import { At, Badge, Empty, Head, LoadProblem, Problem } from '../ui/parts.tsx';
import { Pager, Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';
import { Inventory, Market } from './numbers-for-sale.tsx';

export function Numbers({ account, isStaff }: PageProps) {
  const { fields, setAll } = useQuery({ view: 'own', page: '1', q: '' });
  const views = [
    ['own', t('Numbers of the account')],
    ['buy', t('Buy a number')],
    ...(isStaff ? ([['inventory', t('Inventory of the service')]] as const) : []),
  ] as const;
  return (
    <>
      <Head
        title={t('Numbers')}
        about={t(
          'Phone numbers of the account and the application or trunk that receives their calls.',
        )}
      />
      <nav class="tabs" aria-label={t('Parts')}>
        {views.map(([name, title]) => (
          <button
            key={name}
            type="button"
            class="tab"
            aria-current={fields.view === name ? 'page' : undefined}
            onClick={() => setAll({ view: name, page: '1', q: '' })}
          >
            {title}
          </button>
        ))}
      </nav>
      {fields.view === 'buy' ? (
        <Market account={account} />
      ) : fields.view === 'inventory' && isStaff ? (
        <Inventory />
      ) : (
        <Own account={account} />
      )}
    </>
  );
}

const PER_PAGE = 25;

const pathOf = (root: string, row: Row, suffix = ''): string =>
  `${root}/${encodeURIComponent(text(row['e164']))}${suffix}`;

function Own({ account }: { readonly account: string }) {
  const root = `/api/v1/Account/${account}/numbers`;
  const { fields, setAll } = useQuery({ view: 'own', page: '1', q: '' });
  const search = useSettled(fields.q);
  const page = Number(fields.page);
  const found = useLoad(`${account} ${page} ${search}`, () =>
    get(`${root}?page=${page}&per_page=${PER_PAGE}&search=${encodeURIComponent(search)}`),
  );
  const { problem, run } = useAction();
  const [assigned, setAssigned] = useState<Row>();
  const list = found.value && rows(found.value['items']);
  const act = (to: string, send: () => Promise<unknown>) =>
    run(async () => {
      await send();
      toast(to);
    }).then(found.again);
  const release = async (row: Row) => {
    const isSure = await confirmed({
      title: t('Release {name}?', { name: text(row['e164']) }),
      detail: t(
        'Calls to the number end. The rent of the current month is not refunded. You can undo this until the cooldown ends.',
      ),
      action: t('Release number'),
    });
    if (isSure) await act(t('The number is released.'), () => call('DELETE', pathOf(root, row)));
  };
  const check = (row: Row) =>
    run(async () => {
      const health = await get(pathOf(root, row, '/health'));
      const isGood = health['healthy'] === true;
      toast(
        `${text(row['e164'])}: ${isGood ? t('calls arrive') : text(health['reason'])}`,
        isGood ? 'good' : 'bad',
      );
    });
  return (
    <section class="stack">
      <div class="filters">
        <Input
          label={t('Part of the number')}
          type="search"
          value={fields.q}
          set={(q) => setAll({ q, page: '1' })}
        />
      </div>
      <LoadProblem of={found} />
      <Problem text={problem} />
      <Table
        name={t('Numbers')}
        rows={list}
        problem={found.problem}
        keyOf={(row) => text(row['e164'])}
        empty={
          <Empty title={search === '' ? t('No numbers yet.') : t('No number matches.')}>
            <button
              type="button"
              class="btn primary"
              onClick={() => setAll({ view: 'buy', q: '', page: '1' })}
            >
              {t('Buy number')}
            </button>
          </Empty>
        }
        columns={[
          {
            title: t('Number'),
            value: (row) => text(row['e164']),
            sort: (row) => text(row['e164']),
          },
          { title: t('Country'), value: (row) => text(row['country']), isMinor: true },
          {
            title: t('Receives calls'),
            value: (row) => <Receiver account={account} row={row} />,
          },
          {
            title: t('State'),
            value: (row) => (
              <Badge tone={row['status'] === 'active' ? 'good' : 'fair'}>
                {words(row['status'])}
              </Badge>
            ),
            sort: (row) => text(row['status']),
          },
          {
            title: t('Per month'),
            value: (row) => money(row['monthly_fee'], row['currency']),
            sort: (row) => Number(row['monthly_fee']),
            isNumber: true,
            isMinor: true,
          },
          {
            title: t('Next charge'),
            value: (row) => <At value={row['next_billing_date']} />,
            isMinor: true,
          },
          {
            title: t('Actions'),
            isActions: true,
            value: (row) => (
              <Actions
                name={text(row['e164'])}
                of={[
                  { label: t('Assign number'), act: () => setAssigned(row), need: 'change' },
                  { label: t('Check number'), act: () => check(row) },
                  {
                    label: t('Undo release'),
                    act: () =>
                      act(t('The release is undone.'), () =>
                        call('POST', pathOf(root, row, '/cancel-release'), {}),
                      ),
                    isShown: row['status'] === 'pending_release',
                    need: 'change',
                  },
                  {
                    label: t('Release number'),
                    act: () => release(row),
                    isDanger: true,
                    isShown: row['status'] !== 'pending_release',
                    need: 'change',
                  },
                ]}
              />
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
      <Assign
        account={account}
        root={root}
        row={assigned}
        close={() => setAssigned(undefined)}
        done={found.again}
      />
    </section>
  );
}

const useTargets = (account: string) => {
  const root = `/api/v1/Account/${account}`;
  const apps = useLoad(`${account} apps`, () => get(`${root}/Application/?limit=100`));
  const trunks = useLoad(`${account} trunks`, () => get(`${root}/trunks?limit=100`));
  return {
    apps: rows(apps.value?.['objects']).map(
      (one) => [text(one['app_id']), text(one['app_name'])] as const,
    ),
    trunks: rows(trunks.value?.['objects']).map(
      (one) => [text(one['trunk_id']), text(one['name'])] as const,
    ),
  };
};

function Receiver({ account, row }: { readonly account: string; readonly row: Row }) {
  const { apps, trunks } = useTargets(account);
  const app = text(row['application_id']);
  const trunk = text(row['trunk_group_id']);
  if (app !== '') return <>{apps.find(([id]) => id === app)?.[1] ?? app}</>;
  if (trunk !== '') return <>{trunks.find(([id]) => id === trunk)?.[1] ?? trunk}</>;
  return <span class="text-fair">{t('Nothing: calls are refused')}</span>;
}

interface AssignProps {
  readonly account: string;
  readonly root: string;
  readonly row: Row | undefined;
  readonly close: () => void;
  readonly done: () => void;
}

/** Assigns a number to an application, a trunk and a sub-account. */
function Assign({ account, root, row, close, done }: AssignProps) {
  const { apps, trunks } = useTargets(account);
  const subs = useLoad(`${account} subs`, () =>
    get(`/api/v1/accounts/${account}/sub-accounts/?page=1&size=100`).catch((): Row => ({})),
  );
  const current = text(row?.['application_id'])
    ? `app ${text(row?.['application_id'])}`
    : text(row?.['trunk_group_id'])
      ? `trunk ${text(row?.['trunk_group_id'])}`
      : '';
  const [chosen, setChosen] = useState<string>();
  const [sub, setSub] = useState<string>();
  const { problem, isBusy, run } = useAction();
  const target = chosen ?? current;
  const owner = sub ?? text(row?.['sub_account_id']);
  const finish = () => {
    setChosen(undefined);
    setSub(undefined);
    close();
  };
  const save = () =>
    run(async () => {
      if (row === undefined) return;
      const [kind, id = ''] = target.split(' ');
      if (target !== current) {
        if (current.startsWith('app')) await call('DELETE', pathOf(root, row, '/application'));
        if (current.startsWith('trunk')) await call('DELETE', pathOf(root, row, '/assign'));
        if (kind === 'app')
          await call('POST', pathOf(root, row, '/application'), { application_id: id });
        if (kind === 'trunk')
          await call('POST', pathOf(root, row, '/assign'), { trunk_group_id: id });
      }
      if (sub !== undefined && sub !== text(row['sub_account_id'])) {
        await call('POST', pathOf(root, row, '/assign-subaccount'), { sub_account_id: sub });
      }
      toast(t('The number is assigned.'));
      finish();
      done();
    });
  return (
    <FormDrawer
      title={t('Assign {name}', { name: text(row?.['e164']) })}
      isOpen={row !== undefined}
      close={finish}
      submit={t('Assign number')}
      problem={problem}
      isBusy={isBusy}
      act={() => void save()}
    >
      <Select
        label={t('Calls go to')}
        value={target}
        set={setChosen}
        options={[
          ['', t('Nothing: calls are refused')],
          ...apps.map(([id, name]) => [`app ${id}`, t('Application {name}', { name })] as const),
          ...trunks.map(([id, name]) => [`trunk ${id}`, t('Trunk {name}', { name })] as const),
        ]}
      />
      <Select
        label={t('Sub-account')}
        value={owner}
        set={setSub}
        options={[
          ['', t('None')],
          ...rows(subs.value?.['sub_accounts']).map(
            (one) => [text(one['auth_id']), text(one['name'])] as const,
          ),
        ]}
      />
    </FormDrawer>
  );
}
