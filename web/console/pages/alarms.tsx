import { call, get, type Row, rows, text } from '../api.ts';
import { words } from '../format.ts';
import { useAction, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import { t } from '../text.ts';
import { Ago, At, Badge, Card, Head, LoadProblem, Problem } from '../ui/parts.tsx';
import { Table } from '../ui/table.tsx';
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
};

export function Alarms() {
  const found = useLoad('alarms', () => get('/admin/v1/alarms'), EVERY_MS);
  const history = useLoad('history', () => get('/admin/v1/alarms/history'), EVERY_MS);
  const { problem, run } = useAction();
  const acknowledge = (row: Row) =>
    run(async () => {
      const { kind, subject } = row;
      await call('POST', '/admin/v1/alarms/acknowledge', { kind, subject });
      toast(t('The alarm is acknowledged.'));
    }).then(found.again);
  return (
    <>
      <Head
        title={t('Alarms')}
        about={t('Problems that exist now, and those that have ended since the service started.')}
      />
      <LoadProblem of={found} />
      <Problem text={problem} />
      <Table
        name={t('Active alarms')}
        rows={found.value && rows(found.value['alarms'])}
        problem={found.problem}
        keyOf={(row) => `${text(row['kind'])} ${text(row['subject'])}`}
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
          { title: t('Subject'), value: (row) => <code>{text(row['subject'])}</code> },
          {
            title: t('Detail and solution'),
            value: (row) => (
              <>
                {text(row['detail'])}
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
      <Card title={t('History')} flush>
        <LoadProblem of={history} />
        <Table
          name={t('History')}
          rows={history.value && rows(history.value['alarms'])}
          problem={history.problem}
          keyOf={(row) => `${text(row['kind'])} ${text(row['subject'])} ${text(row['since'])}`}
          empty={t('No alarm has ended since the service started.')}
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
            {
              title: t('Subject'),
              value: (row) => <code>{text(row['subject'])}</code>,
              isMinor: true,
            },
            { title: t('Detail'), value: (row) => text(row['detail']) },
          ]}
        />
      </Card>
    </>
  );
}
