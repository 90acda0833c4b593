import { useState } from 'preact/hooks';
import { allOf, call, get, type Row, text } from '../api.ts';
import { words } from '../format.ts';
import { useAction, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import type { PageProps } from '../page-props.ts';
import { useQuery } from '../place.ts';
import { t } from '../text.ts';
import { Select } from '../ui/form.tsx';
import { type Action, confirmed, FormDrawer } from '../ui/overlay.tsx';
import { At, Badge, Head, Problem, Tabs } from '../ui/parts.tsx';
import { Resource } from '../ui/resource.tsx';
import type { Column } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';
import { ImportLink } from './import-link.tsx';
import { COUNTRY, Inventory, Market, NUMBER, PER_MONTH } from './numbers-for-sale.tsx';

const VIEW = { view: 'own', page: '1', q: '' };

export function Numbers({ account, isStaff }: PageProps) {
  const { fields, setAll } = useQuery(VIEW);
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
      >
        {isStaff && fields.view === 'inventory' && <ImportLink kind="numbers" />}
      </Head>
      <Tabs
        tabs={views}
        chosen={fields.view}
        choose={(view) => setAll({ view, page: '1', q: '' })}
      />
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

const pathOf = (root: string, row: Row, suffix = ''): string =>
  `${root}/${encodeURIComponent(text(row['e164']))}${suffix}`;

/** Requests about a number, each with its result. */
function useNumberRequests(root: string) {
  const { problem, run } = useAction();
  const change = (done: string, send: () => Promise<unknown>, again: () => void) =>
    run(async () => {
      await send();
      toast(done);
    }).then(again);
  const release = async (row: Row, again: () => void) => {
    const isSure = await confirmed({
      title: t('Release {name}?', { name: text(row['e164']) }),
      detail: t(
        'Calls to the number end. The rent of the current month is not refunded. You can undo this until the cooldown ends.',
      ),
      action: t('Release number'),
    });
    if (isSure)
      await change(t('The number is released.'), () => call('DELETE', pathOf(root, row)), again);
  };
  const undoRelease = (row: Row, again: () => void) =>
    change(
      t('The release is undone.'),
      () => call('POST', pathOf(root, row, '/cancel-release'), {}),
      again,
    );
  const check = (row: Row) =>
    run(async () => {
      const health = await get(pathOf(root, row, '/health'));
      const isGood = health['healthy'] === true;
      toast(
        `${text(row['e164'])}: ${isGood ? t('calls arrive') : text(health['reason'])}`,
        isGood ? 'good' : 'bad',
      );
    });
  return { problem, release, undoRelease, check };
}

/** Numbers of the account. */
function Own({ account }: { readonly account: string }) {
  const root = `/api/v1/Account/${account}/numbers`;
  const targets = useTargets(account);
  const { problem, release, undoRelease, check } = useNumberRequests(root);
  const [assigned, setAssigned] = useState<Row>();
  const actionsOf = (row: Row, again: () => void): readonly Action[] => {
    const isReleased = row['status'] === 'pending_release';
    return [
      { label: t('Assign number'), act: () => setAssigned(row), need: 'change' },
      { label: t('Check number'), act: () => check(row) },
      {
        label: t('Undo release'),
        act: () => undoRelease(row, again),
        isShown: isReleased,
        need: 'change',
      },
      {
        label: t('Release number'),
        act: () => release(row, again),
        isDanger: true,
        isShown: !isReleased,
        need: 'change',
      },
    ];
  };
  return (
    <>
      <Problem text={problem} />
      <Resource
        title={t('Numbers')}
        noun={t('number')}
        path={root}
        member="items"
        pages="page"
        search="search"
        searchLabel={t('Part of the number')}
        deletes={false}
        idOf={(row) => text(row['e164'])}
        nameOf={(row) => text(row['e164'])}
        actionsOf={actionsOf}
        emptyTitle={t('No numbers yet.')}
        emptyAction={may('change') && <BuyNumber />}
        columns={columnsOf(targets)}
      >
        {(again) => (
          <Assign
            account={account}
            targets={targets}
            root={root}
            row={assigned}
            close={() => setAssigned(undefined)}
            done={again}
          />
        )}
      </Resource>
    </>
  );
}

/** Opens the list of numbers for sale. */
function BuyNumber() {
  const { setAll } = useQuery(VIEW);
  return (
    <button
      type="button"
      class="btn primary"
      onClick={() => setAll({ view: 'buy', q: '', page: '1' })}
    >
      {t('Buy number')}
    </button>
  );
}

const columnsOf = (targets: Targets): readonly Column[] => [
  NUMBER,
  COUNTRY,
  {
    title: t('Receives calls'),
    value: (row) => <Receiver targets={targets} row={row} />,
  },
  {
    title: t('State'),
    value: (row) => (
      <Badge tone={row['status'] === 'active' ? 'good' : 'fair'}>{words(row['status'])}</Badge>
    ),
    sort: (row) => text(row['status']),
  },
  PER_MONTH,
  {
    title: t('Next charge'),
    value: (row) => <At value={row['next_billing_date']} />,
    sort: (row) => text(row['next_billing_date']),
    isMinor: true,
  },
];

const useTargets = (account: string) => {
  const root = `/api/v1/Account/${account}`;
  const apps = useLoad(`${account} apps`, () => allOf(`${root}/Application/`));
  const trunks = useLoad(`${account} trunks`, () => allOf(`${root}/trunks`));
  return {
    apps: (apps.value ?? []).map((one) => [text(one['app_id']), text(one['app_name'])] as const),
    trunks: (trunks.value ?? []).map((one) => [text(one['trunk_id']), text(one['name'])] as const),
  };
};

type Targets = ReturnType<typeof useTargets>;

function Receiver({ targets, row }: { readonly targets: Targets; readonly row: Row }) {
  const { apps, trunks } = targets;
  const app = text(row['application_id']);
  const trunk = text(row['trunk_group_id']);
  if (app !== '') return <>{apps.find(([id]) => id === app)?.[1] ?? app}</>;
  if (trunk !== '') return <>{trunks.find(([id]) => id === trunk)?.[1] ?? trunk}</>;
  return <span class="text-fair">{t('Nothing: calls are refused')}</span>;
}

interface AssignProps {
  readonly account: string;
  readonly targets: Targets;
  readonly root: string;
  readonly row: Row | undefined;
  readonly close: () => void;
  readonly done: () => void;
}

/** Target of the calls of a number, for example `app 1234`. */
const targetOf = (row: Row | undefined): string => {
  const [app, trunk] = [text(row?.['application_id']), text(row?.['trunk_group_id'])];
  if (app !== '') return `app ${app}`;
  return trunk === '' ? '' : `trunk ${trunk}`;
};

/** Replaces the target of the calls of a number. */
async function setTarget(root: string, row: Row, target: string): Promise<void> {
  const current = targetOf(row);
  if (target === current) return;
  const [kind, id = ''] = target.split(' ');
  // An application or trunk replaces the previous target, so that no call is refused in between.
  if (kind === '') {
    const suffix = current.startsWith('app') ? '/application' : '/assign';
    await call('DELETE', pathOf(root, row, suffix));
  }
  if (kind === 'app') await call('POST', pathOf(root, row, '/application'), { application_id: id });
  if (kind === 'trunk') await call('POST', pathOf(root, row, '/assign'), { trunk_group_id: id });
}

/** Assigns a number to an application, a trunk and a sub-account. */
function Assign({ account, targets, root, row, close, done }: AssignProps) {
  const { apps, trunks } = targets;
  const subs = useLoad(`${account} subs`, () =>
    allOf(`/api/v1/accounts/${account}/sub-accounts/`, 'sub_accounts', 1000, 'size'),
  );
  const [chosen, setChosen] = useState<string>();
  const [sub, setSub] = useState<string>();
  const { problem, isBusy, run } = useAction();
  const target = chosen ?? targetOf(row);
  const finish = () => {
    setChosen(undefined);
    setSub(undefined);
    close();
  };
  const save = () =>
    run(async () => {
      if (row === undefined) return;
      await setTarget(root, row, target);
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
        value={sub ?? text(row?.['sub_account_id'])}
        set={setSub}
        options={[
          ['', t('None')],
          ...(subs.value ?? []).map((one) => [text(one['auth_id']), text(one['name'])] as const),
        ]}
      />
    </FormDrawer>
  );
}
