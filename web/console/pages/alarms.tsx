import { call, get, number, type Row, rows, text } from '../api.ts';
import { sentence, words } from '../format.ts';
import { useAction, useLoad, useSettledFields } from '../hooks.ts';
import { may } from '../may.ts';
import { useQuery } from '../place.ts';
import { t } from '../text.ts';
import { Input, Select } from '../ui/form.tsx';
import { Ago, At, Badge, Head, LoadProblem, Problem } from '../ui/parts.tsx';
import { type Column, Pager, Table } from '../ui/table.tsx';
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

export function Alarms() {
  const { fields, setAll } = useQuery({ page: '1', kind: '', search: '' });
  const asked = useSettledFields(fields);
  const query = new URLSearchParams({
    limit: String(PER_PAGE),
    offset: String((Number(asked.page) - 1) * PER_PAGE),
  });
  for (const name of ['kind', 'search'] as const)
    if (asked[name].trim() !== '') query.set(name, asked[name].trim());
  const set = (name: keyof typeof fields) => (value: string) =>
    setAll({ page: '1', [name]: value });
  const found = useLoad('alarms', () => get('/admin/v1/alarms'), EVERY_MS);
  const history = useLoad(`${query}`, () => get(`/admin/v1/alarms/history?${query}`), EVERY_MS);
  const { problem, run } = useAction();
  const acknowledge = (row: Row) =>
    run(async () => {
      const { kind, subject, node } = row;
      await call('POST', '/admin/v1/alarms/acknowledge', { kind, subject, node });
      toast(t('The alarm is acknowledged.'));
    }).then(found.again);
  const active = found.value && rows(found.value['alarms']);
  const ended = history.value && rows(history.value['alarms']);
  const nodes = new Set([...(active ?? []), ...(ended ?? [])].map((row) => row['node']));
  const ofNode: readonly Column[] =
    nodes.size < 2
      ? []
      : [{ title: t('Node'), value: (row) => <code>{text(row['node'])}</code>, isMinor: true }];
  const subject: Column = {
    title: t('Subject'),
    value: (row) => <code>{text(row['subject']) || t('Node')}</code>,
    isMinor: true,
  };
  return (
    <>
      <Head
        title={t('Alarms')}
        about={t('Problems that exist now, and those that have ended. They are kept for a year.')}
      />
      <LoadProblem of={found} />
      <Problem text={problem} />
      <Table
        name={t('Active alarms')}
        rows={active}
        problem={found.problem}
        keyOf={keyOf}
        empty={t('No active alarms.')}
        columns={[
          {
            title: t('Since'),
            value: (row) => <Ago value={row['since']} />,
            sort: (row) => text(row['since']),
          },
          {
            title: t('Alarm'),
            value: (row) => <Badge tone="bad">{words(row['kind'])}</Badge>,
            sort: (row) => text(row['kind']),
          },
          subject,
          ...ofNode,
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
                  <button type="button" class="btn tiny" onClick={() => void acknowledge(row)}>
                    {t('Acknowledge')}
                  </button>
                )
              ) : (
                <>
                  {text(row['acknowledged_by'])} <Ago value={row['acknowledged_at']} />
                </>
              ),
          },
        ]}
      />
      <h2>{t('History')}</h2>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <Select
          label={t('Alarm')}
          value={fields.kind}
          set={set('kind')}
          options={[
            ['', t('All')],
            ...Object.keys(SOLUTIONS).map((kind) => [kind, words(kind)] as const),
          ]}
        />
        <Input
          label={t('Subject or detail')}
          type="search"
          value={fields.search}
          set={set('search')}
          wider
        />
      </form>
      <LoadProblem of={history} />
      <Table
        name={t('History')}
        rows={ended}
        problem={history.problem}
        keyOf={keyOf}
        empty={
          fields.kind + fields.search === '' ? t('No alarm has ended yet.') : t('No alarm matches.')
        }
        columns={[
          {
            title: t('Start'),
            value: (row) => <At value={row['since']} />,
            sort: (row) => text(row['since']),
          },
          {
            title: t('End'),
            value: (row) => <At value={row['cleared_at']} />,
            sort: (row) => text(row['cleared_at']),
          },
          {
            title: t('Alarm'),
            value: (row) => words(row['kind']),
            sort: (row) => text(row['kind']),
          },
          subject,
          ...ofNode,
          { title: t('Detail'), value: (row) => sentence(row['detail']) },
          {
            title: t('Acknowledged by'),
            value: (row) => text(row['acknowledged_by']) || '—',
            isMinor: true,
          },
        ]}
      />
      <Pager
        page={Number(fields.page)}
        set={(next) => setAll({ page: String(next) })}
        perPage={PER_PAGE}
        shown={ended?.length ?? 0}
        total={number(history.value?.['total'])}
      />
    </>
  );
}
