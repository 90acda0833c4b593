import { allOf, call, get, numbersOf, type Row, rows, text } from '../api.ts';
import { useAction, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import type { PageProps } from '../page-props.ts';
import { t } from '../text.ts';
import { textColumn } from '../ui/columns.tsx';
import { type Options, Select } from '../ui/form.tsx';
import { Card, Head, LoadProblem, Problem } from '../ui/parts.tsx';
import { Resource } from '../ui/resource.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';

const NUMBER_COLUMNS: readonly Column[] = [
  { title: t('Number'), value: (row) => text(row['number']) },
];

/** Caller IDs that the account may present, and its default. */
export function CallerIds({ account, isStaff }: PageProps) {
  const root = `/api/v1/Account/${account}/caller-ids`;
  const found = useLoad(account, () => get(root));
  const rented = useLoad(`${account} numbers`, () => numbersOf(account));
  const { problem, run } = useAction();
  const verified = rows(found.value?.['caller_ids']).map((row) => text(row['number']));
  const own = (rented.value ?? []).map((row) => text(row['e164']).replace('+', ''));
  const choices = [...new Set([...own, ...verified])];
  const current = text(found.value?.['default_caller_id']);
  const choose = (number: string) =>
    run(async () => {
      await call('PUT', `${root}/default`, { number: number || null });
      toast(t('The default caller ID is changed.'));
    }).then(found.again);
  return (
    <>
      <Head
        title={t('Caller IDs')}
        about={t('Outbound calls may present the numbers of the account and verified numbers.')}
      />
      <LoadProblem of={found} />
      <Problem text={problem} />
      <DefaultCallerId
        current={current}
        choices={choices}
        choose={(number) => void choose(number)}
      />
      {isStaff ? (
        <section class="stack">
          <h2>{t('Verified numbers')}</h2>
          <VerifiedCallerIds account={account} />
        </section>
      ) : (
        <Card title={t('Verified numbers')} flush>
          <Table
            name={t('Verified numbers')}
            rows={found.value && verified.map((number) => ({ number }))}
            problem={found.problem}
            keyOf={(row) => text(row['number'])}
            empty={t('No verified numbers yet. Ask the operator to verify one.')}
            columns={NUMBER_COLUMNS}
          />
        </Card>
      )}
      <Overrides account={account} choices={choices} />
    </>
  );
}

interface DefaultProps {
  readonly current: string;
  readonly choices: readonly string[];
  readonly choose: (number: string) => void;
}

const DefaultCallerId = ({ current, choices, choose }: DefaultProps) => (
  <Card title={t('Default caller ID')}>
    <p class="small muted">{t('Used if the call, the endpoint and the application name none.')}</p>
    <div class="filters">
      {!may('change') && <p>{current || t('None')}</p>}
      {may('change') && (
        <Select
          label={t('Default caller ID')}
          value={current}
          set={choose}
          options={optionsOf(choices, current, t('None'))}
        />
      )}
    </div>
  </Card>
);

/** Choices for a caller ID. Includes the current one even if it is not valid any more, until another is chosen. */
const optionsOf = (choices: readonly string[], now: string, none: string): Options => [
  ['', none],
  ...[...new Set([...choices, ...(now === '' ? [] : [now])])].map((one) => [one, one] as const),
];

/** Numbers outside the account that it may present. The operator has verified that they belong to the customer. */
export const VerifiedCallerIds = ({ account }: { readonly account: string }) => (
  <Resource
    title={t('Verified numbers')}
    noun={t('verified number')}
    path={`/admin/v1/accounts/${account}/caller-ids`}
    member="caller_ids"
    pages="none"
    need="money"
    isEditable={false}
    idOf={(row) => text(row['number'])}
    nameOf={(row) => text(row['number'])}
    createLabel={t('Add verified number')}
    emptyTitle={t('No verified numbers yet.')}
    emptyDetail={t('Add a number after you have verified that it belongs to the customer.')}
    columns={NUMBER_COLUMNS}
    fields={[{ name: 'number', label: t('Number'), hint: t('E.164 format'), required: true }]}
  />
);

interface OverridesProps {
  readonly account: string;
  readonly choices: readonly string[];
}

/** Endpoints and applications with their caller IDs, and the function that changes one. */
function useOverrides(account: string) {
  const root = `/api/v1/Account/${account}`;
  const endpoints = useLoad(`${account} endpoints`, () => allOf(`${root}/Endpoint/`));
  const apps = useLoad(`${account} apps`, () => allOf(`${root}/Application/`));
  const { problem, run } = useAction();
  const list: readonly Row[] | undefined = endpoints.value &&
    apps.value && [
      ...endpoints.value.map((one) => ({
        kind: t('Endpoint'),
        name: one['username'],
        shows: one['caller_id'],
        id: `Endpoint/${text(one['endpoint_id'])}`,
      })),
      ...apps.value.map((one) => ({
        kind: t('Application'),
        name: one['app_name'],
        shows: one['caller_id'],
        id: `Application/${text(one['app_id'])}`,
      })),
    ];
  const choose = (row: Row, number: string) =>
    run(async () => {
      await call('POST', `${root}/${text(row['id'])}/`, { caller_id: number || null });
      toast(t('The caller ID is changed.'));
    }).then(() => {
      endpoints.again();
      apps.again();
    });
  return { list, choose, loadProblem: endpoints.problem ?? apps.problem, problem };
}

const overrideColumns = (
  choices: readonly string[],
  choose: (row: Row, number: string) => void,
): readonly Column[] => [
  textColumn(t('Name'), 'name'),
  textColumn(t('Kind'), 'kind'),
  {
    title: t('Caller ID'),
    value: (row) => (
      <select
        class="input"
        disabled={!may('change')}
        aria-label={t('Caller ID of {name}', { name: text(row['name']) })}
        value={text(row['shows'])}
        onChange={({ currentTarget }) => choose(row, currentTarget.value)}
      >
        {optionsOf(choices, text(row['shows']), t('Default of the account')).map(([one, shown]) => (
          <option key={one} value={one}>
            {shown}
          </option>
        ))}
      </select>
    ),
  },
];

/** Endpoints and applications that present a separate caller ID. */
function Overrides({ account, choices }: OverridesProps) {
  const { list, choose, loadProblem, problem } = useOverrides(account);
  return (
    <Card title={t('Caller IDs of endpoints and applications')} flush>
      <Problem text={loadProblem ?? problem} />
      <Table
        name={t('Caller IDs of endpoints and applications')}
        rows={list}
        problem={loadProblem}
        empty={t('No endpoints or applications yet.')}
        columns={overrideColumns(choices, (row, number) => void choose(row, number))}
      />
    </Card>
  );
}
