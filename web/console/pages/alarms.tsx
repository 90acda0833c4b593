import { call, get, number, type Row, rows, text } from '../api.ts';
import { sentence, words } from '../format.ts';
import { useAction, useLoad, useSettledFields } from '../hooks.ts';
import { may } from '../may.ts';
import { useQuery } from '../place.ts';
import { t } from '../text.ts';
import { textColumn } from '../ui/columns.tsx';
import { Input, Select } from '../ui/form.tsx';
import { Ago, At, Badge, Head, LoadProblem, Problem } from '../ui/parts.tsx';
import { type Column, PagedTable, Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';

const EVERY_MS = 10_000;

/** What to do about an alarm. */
const SOLUTIONS: Readonly<Record<string, string>> = {
  carrier_down: t(
    'Check the carrier and its route test. Calls use other carriers with the same prefix.',
  ),
  answer_ratio: t('Compare the end causes of the latest calls. A carrier may reject them.'),
  one_way_audio: t('Open a call with one-way audio. Check NAT and firewall of the RTP ports.'),
  poor_audio: t('Compare jitter and loss by carrier. Check the network of this node.'),
  spend: t('Check the latest calls of the account for fraud. Suspend the account if necessary.'),
  new_country: t('Check whether the account intends calls to this country.'),
  short_calls: t(
    'Check whether the application ends calls too early, or whether calls are fraudulent.',
  ),
  low_balance: t('Add credit to the account.'),
  disk: t('Free disk space or add a volume. Recordings can move to object storage.'),
  certificate: t('Renew the certificate, then reload the settings.'),
  unreadable_rows: t('Look at the unreadable rows and restore them from a backup.'),
  not_serving: t('Look at the parts on the health page.'),
  spool: t('Check the database. The node writes the waiting records when it answers.'),
  object_backlog: t('Check the object storage with the doctor page.'),
};

const keyOf = (row: Row): string =>
  ['node', 'kind', 'subject', 'since'].map((name) => text(row[name])).join(' ');

const PER_PAGE = 50;

/** Active alarms, and the function that acknowledges one. */
function useActive() {
  const found = useLoad('alarms', () => get('/admin/v1/alarms'), EVERY_MS);
  const { problem, run } = useAction();
  const acknowledge = (row: Row) =>
    run(async () => {
      const { kind, subject, node } = row;
      await call('POST', '/admin/v1/alarms/acknowledge', { kind, subject, node });
      toast(t('The alarm is acknowledged.'));
    }).then(found.again);
  return { found, problem, acknowledge, list: found.value && rows(found.value['alarms']) };
}

/** Ended alarms that match the filters of the URL. */
function useHistory() {
  const { fields, setAll } = useQuery({ page: '1', kind: '', search: '' });
  const asked = useSettledFields(fields);
  const query = new URLSearchParams({
    limit: String(PER_PAGE),
    offset: String((Number(asked.page) - 1) * PER_PAGE),
  });
  for (const name of ['kind', 'search'] as const)
    if (asked[name].trim() !== '') query.set(name, asked[name].trim());
  const found = useLoad(`${query}`, () => get(`/admin/v1/alarms/history?${query}`), EVERY_MS);
  return { fields, setAll, found, list: found.value && rows(found.value['alarms']) };
}

export function Alarms() {
  const active = useActive();
  const history = useHistory();
  const nodes = new Set(
    [...(active.list ?? []), ...(history.list ?? [])].map((row) => row['node']),
  );
  const origin = nodes.size < 2 ? [SUBJECT] : [SUBJECT, NODE];
  return (
    <>
      <Head
        title={t('Alarms')}
        about={t('Problems that exist now, and those that have ended. They are kept for a year.')}
      />
      <LoadProblem of={active.found} />
      <Problem text={active.problem} />
      <Table
        name={t('Active alarms')}
        rows={active.list}
        problem={active.found.problem}
        keyOf={keyOf}
        empty={t('No active alarms.')}
        columns={activeColumns(origin, (row) => void active.acknowledge(row))}
      />
      <History of={history} origin={origin} />
    </>
  );
}

interface HistoryProps {
  readonly of: ReturnType<typeof useHistory>;
  /** Columns with the origin of an alarm. */
  readonly origin: readonly Column[];
}

function History({ of: { fields, setAll, found, list }, origin }: HistoryProps) {
  return (
    <>
      <h2>{t('History')}</h2>
      <HistoryFilters fields={fields} change={(changes) => setAll({ page: '1', ...changes })} />
      <PagedTable
        name={t('History')}
        rows={list}
        found={found}
        keyOf={keyOf}
        empty={
          fields.kind + fields.search === '' ? t('No alarm has ended yet.') : t('No alarm matches.')
        }
        columns={historyColumns(origin)}
        pager={{
          page: Number(fields.page),
          set: (page) => setAll({ page: String(page) }),
          perPage: PER_PAGE,
          total: number(found.value?.['total']),
        }}
      />
    </>
  );
}

interface FilterFields {
  readonly kind: string;
  readonly search: string;
}

interface FiltersProps {
  readonly fields: FilterFields;
  readonly change: (changes: Partial<FilterFields>) => void;
}

const HistoryFilters = ({ fields, change }: FiltersProps) => (
  <form class="filters" onSubmit={(event) => event.preventDefault()}>
    <Select
      label={t('Alarm')}
      value={fields.kind}
      set={(kind) => change({ kind })}
      options={[
        ['', t('All')],
        ...Object.keys(SOLUTIONS).map((kind) => [kind, words(kind)] as const),
      ]}
    />
    <Input
      label={t('Subject or detail')}
      type="search"
      value={fields.search}
      set={(search) => change({ search })}
      wider
    />
  </form>
);

const SUBJECT: Column = {
  title: t('Subject'),
  value: (row) => <code>{text(row['subject']) || t('Node')}</code>,
  isMinor: true,
};

const NODE: Column = {
  title: t('Node'),
  value: (row) => <code>{text(row['node'])}</code>,
  isMinor: true,
};

const activeColumns = (
  origin: readonly Column[],
  acknowledge: (row: Row) => void,
): readonly Column[] => [
  textColumn(t('Since'), 'since', { value: (row) => <Ago value={row['since']} /> }),
  textColumn(t('Alarm'), 'kind', {
    value: (row) => <Badge tone="bad">{words(row['kind'])}</Badge>,
  }),
  ...origin,
  {
    title: t('Detail and solution'),
    value: (row) => (
      <>
        {sentence(row['detail'])}
        <br />
        <span class="muted small">{SOLUTIONS[text(row['kind'])]}</span>
      </>
    ),
  },
  {
    title: t('Acknowledged'),
    value: (row) =>
      row['acknowledged_at'] == null ? (
        may('change') && (
          <button type="button" class="btn tiny" onClick={() => acknowledge(row)}>
            {t('Acknowledge')}
          </button>
        )
      ) : (
        <>
          {text(row['acknowledged_by'])} <Ago value={row['acknowledged_at']} />
        </>
      ),
  },
];

const historyColumns = (origin: readonly Column[]): readonly Column[] => [
  textColumn(t('Start'), 'since', { value: (row) => <At value={row['since']} /> }),
  textColumn(t('End'), 'cleared_at', { value: (row) => <At value={row['cleared_at']} /> }),
  textColumn(t('Alarm'), 'kind', { value: (row) => words(row['kind']) }),
  ...origin,
  { title: t('Detail'), value: (row) => sentence(row['detail']) },
  {
    title: t('Acknowledged by'),
    value: (row) => text(row['acknowledged_by']) || '—',
    isMinor: true,
  },
];
