import { call, get, type Row, rows, text } from '../api.ts';
import { sentence } from '../format.ts';
import { useAction, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import { t } from '../text.ts';
import {
  Ago,
  Badge,
  Empty,
  Head,
  LoadProblem,
  Problem,
  Skeleton,
  Tiles,
  type Tone,
} from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';

const VERDICTS: Readonly<Record<string, readonly [tone: Tone, name: string, rank: number]>> = {
  problem: ['bad', t('Problem'), 0],
  warning: ['fair', t('Warning'), 1],
  ok: ['good', t('OK'), 2],
  skipped: ['none', t('Skipped'), 3],
};

const verdictOf = (row: Row) => VERDICTS[text(row['verdict'])] ?? (['none', '', 4] as const);

/** Results of `carillon doctor` on this node. */
export function Doctor() {
  const found = useLoad('doctor', () => get('/admin/v1/doctor'));
  const { problem, isBusy, run } = useAction();
  const check = () => run(() => call('POST', '/admin/v1/doctor', {}).then(found.again));
  return (
    <>
      <Head
        title={t('Doctor')}
        about={t(
          'Checks of settings, machine, network and connected systems of this node, with a solution for each problem.',
        )}
      >
        {may('change') && (
          <button
            type="button"
            class="btn primary"
            aria-busy={isBusy}
            disabled={isBusy}
            onClick={() => void check()}
          >
            {isBusy ? t('Checking') : t('Run checks')}
          </button>
        )}
      </Head>
      <LoadProblem of={found} />
      <Problem text={problem} />
      {isBusy && (
        <p role="status" class="muted">
          {t('The checks take up to two minutes.')}
        </p>
      )}
      {found.value === undefined ? (
        found.problem === undefined && <Skeleton />
      ) : found.value['finished_at'] === null ? (
        <Empty title={t('The checks have not run since the start of this node.')}>
          <p>{t('Run the checks after an installation, an update or a network change.')}</p>
        </Empty>
      ) : (
        <Results of={found.value} />
      )}
    </>
  );
}

const COLUMNS: readonly Column[] = [
  {
    title: t('Result'),
    value: (row) => <Badge tone={verdictOf(row)[0]}>{verdictOf(row)[1]}</Badge>,
    sort: (row) => verdictOf(row)[2],
  },
  {
    title: t('Check'),
    value: (row) => <span class="strong nowrap">{text(row['check'])}</span>,
    sort: (row) => text(row['check']),
  },
  {
    title: t('Finding and solution'),
    value: (row) => (
      <>
        {sentence(row['found'])}
        {row['advice'] !== null && (
          <>
            <br />
            <span class="muted small">{text(row['advice'])}</span>
          </>
        )}
      </>
    ),
  },
];

/** Findings of the last run, problems first. */
function Results({ of: report }: { readonly of: Row }) {
  const findings = rows(report['findings']).toSorted(
    (one, other) => verdictOf(one)[2] - verdictOf(other)[2],
  );
  const counted = (verdict: string): number =>
    findings.filter((row) => row['verdict'] === verdict).length;
  return (
    <>
      <Tiles
        of={[
          { name: t('Problems'), value: <Count tone="bad" value={counted('problem')} /> },
          { name: t('Warnings'), value: <Count tone="fair" value={counted('warning')} /> },
          { name: t('Passed'), value: counted('ok') },
          { name: t('Skipped'), value: counted('skipped') },
          { name: t('Last run'), value: <Ago value={report['finished_at']} /> },
        ]}
      />
      <Table
        name={t('Findings')}
        rows={findings}
        keyOf={(row) => `${text(row['check'])} ${text(row['found'])}`}
        empty={t('No findings.')}
        columns={COLUMNS}
      />
    </>
  );
}

const Count = ({ tone, value }: { readonly tone: 'bad' | 'fair'; readonly value: number }) => (
  <span class={value === 0 ? '' : `text-${tone}`}>{value}</span>
);
