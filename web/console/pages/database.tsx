import { useEffect, useState } from 'preact/hooks';
import { call, get, number, type Row, rows, text } from '../api.ts';
import { count, sentence } from '../format.ts';
import { useAction, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import { t } from '../text.ts';
import { confirmed, Drawer } from '../ui/overlay.tsx';
import { Ago, Badge, Card, Facts, Head, Problem } from '../ui/parts.tsx';
import { Resource } from '../ui/resource.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';

const PROGRESS_MS = 1000;
const MEGABYTE = 1_000_000;

/** Backup, verification, and rows that cannot be read. */
export function DatabasePage() {
  return (
    <>
      <Head
        title={t('Database')}
        about={t(
          'Backup and verification of the database, and rows that this version cannot read.',
        )}
      />
      <div class="columns">
        <Backup />
        <Verification />
      </div>
      <Unreadable />
    </>
  );
}

const megabytes = (bytes: unknown): string =>
  t('{n} MB', { n: (number(bytes) / MEGABYTE).toFixed(1) });

/** Starts a backup and follows the progress of the running one. */
function useBackup() {
  const { problem, isBusy, run } = useAction();
  const [done, setDone] = useState<Row>();
  const [isOthers, setOthers] = useState(true);
  const { value: progress } = useLoad(
    'backup',
    () => get('/admin/v1/backup'),
    isBusy || isOthers ? PROGRESS_MS : undefined,
  );
  // Another user may have started a backup. Without one, no further requests are needed.
  useEffect(() => {
    if (progress !== undefined) setOthers(progress['running'] === true);
  }, [progress]);
  const begin = () =>
    run(async () => {
      setDone(undefined);
      setDone(await call('POST', '/admin/v1/backup', {}));
      toast(t('The backup is complete.'));
    });
  return { problem, isRunning: isBusy || progress?.['running'] === true, progress, done, begin };
}

function Backup() {
  const { problem, isRunning, progress, done, begin } = useBackup();
  return (
    <Card
      title={t('Backup')}
      actions={
        may('change') && (
          <button
            type="button"
            class="btn"
            aria-busy={isRunning}
            disabled={isRunning}
            onClick={() => void begin()}
          >
            {t('Back up database')}
          </button>
        )
      }
    >
      <Problem text={problem} />
      <p class="muted">
        {t(
          'Writes a consistent copy into the backups folder of the data folder. Calls continue. Back up the folder keys separately.',
        )}
      </p>
      {isRunning && (
        <p role="status">
          {t('{done} of about {all}', {
            done: megabytes(progress?.['bytes']),
            all: megabytes(progress?.['total_bytes']),
          })}
        </p>
      )}
      {done && (
        <Facts
          of={[
            [t('File'), <code key="path">{text(done['path'])}</code>],
            [t('Size'), megabytes(done['bytes'])],
          ]}
        />
      )}
    </Card>
  );
}

const FAULT_COLUMNS: readonly Column[] = [
  { title: t('Account'), value: (row) => <code>{text(row['account_id'])}</code> },
  { title: t('Currency'), value: (row) => text(row['currency']) },
  {
    title: t('Balance'),
    value: (row) => count(row['balance_micros']),
    isNumber: true,
  },
  {
    title: t('Sum of entries'),
    value: (row) => count(row['sum_of_entries_micros']),
    isNumber: true,
  },
];

function Verification() {
  const { problem, isBusy, run } = useAction();
  const [found, setFound] = useState<Row>();
  const verify = () => run(async () => setFound(await call('POST', '/admin/v1/verify')));
  const faults = rows(found?.['faults']);
  return (
    <Card
      title={t('Balances')}
      actions={
        may('change') && (
          <button
            type="button"
            class="btn"
            aria-busy={isBusy}
            disabled={isBusy}
            onClick={() => void verify()}
          >
            {t('Verify balances')}
          </button>
        )
      }
    >
      <Problem text={problem} />
      <p class="muted">
        {t('Verifies that each balance equals the sum of its ledger entries and reservations.')}
      </p>
      {found?.['ok'] === true && (
        <p role="status">
          <Badge tone="good">{t('All balances are correct')}</Badge>
        </p>
      )}
      {faults.length > 0 && (
        <Table
          name={t('Incorrect balances')}
          rows={faults}
          keyOf={(row) => text(row['balance_id'])}
          empty=""
          columns={FAULT_COLUMNS}
        />
      )}
    </Card>
  );
}

const UNREADABLE_PATH = '/admin/v1/unreadable-rows';
const UNREADABLE_COLUMNS: readonly Column[] = [
  {
    title: t('Table'),
    value: (row) => <code>{text(row['table'])}</code>,
    sort: (row) => text(row['table']),
  },
  { title: t('Key'), value: (row) => <code>{text(row['key'])}</code> },
  { title: t('Reason'), value: (row) => sentence(row['reason']) },
  {
    title: t('Found'),
    value: (row) => <Ago value={row['found']} />,
    sort: (row) => text(row['found']),
    isMinor: true,
  },
];

/** Removes a row from the list after a confirmation. */
function useRemoval() {
  const { problem, run } = useAction();
  const remove = async (row: Row, again: () => void) => {
    const isSure = await confirmed({
      title: t('Remove this row from the list?'),
      detail: t(
        'The row stays in its table. An open call is deleted, and its reservations are released.',
      ),
      action: t('Remove from list'),
    });
    if (!isSure) return;
    const [table, key] = [row['table'], row['key']].map((one) => encodeURIComponent(text(one)));
    if (await run(() => call('DELETE', `${UNREADABLE_PATH}/${table}/${key}`))) again();
  };
  return { problem, remove };
}

function Unreadable() {
  const [open, setOpen] = useState<Row>();
  const { problem, remove } = useRemoval();
  return (
    <section class="stack">
      <h2>{t('Unreadable rows')}</h2>
      <Problem text={problem} />
      <Resource
        title={t('Unreadable rows')}
        noun={t('row')}
        path={UNREADABLE_PATH}
        member="rows"
        deletes={false}
        idOf={(row) => `${text(row['table'])} ${text(row['key'])}`}
        nameOf={(row) => text(row['key'])}
        emptyTitle={t('All rows can be read.')}
        actionsOf={(row, again) => [
          { label: t('Show stored columns'), act: () => setOpen(row) },
          {
            label: t('Remove from list'),
            act: () => remove(row, again),
            isDanger: true,
            need: 'change',
          },
        ]}
        columns={UNREADABLE_COLUMNS}
      />
      <Drawer
        title={t('Stored columns')}
        isOpen={open !== undefined}
        close={() => setOpen(undefined)}
        isWide
      >
        <div class="body">
          <pre class="code">{text(open?.['original'])}</pre>
        </div>
      </Drawer>
    </section>
  );
}
