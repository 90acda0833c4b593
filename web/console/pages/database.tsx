import { useEffect, useState } from 'preact/hooks';
import { call, get, number, type Row, rows, text } from '../api.ts';
import { count, sentence } from '../format.ts';
import { useAction, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import { useQuery } from '../place.ts';
import { t } from '../text.ts';
import { Actions, confirmed, Drawer } from '../ui/overlay.tsx';
import { Ago, Badge, Card, Facts, Head, LoadProblem, Problem } from '../ui/parts.tsx';
import { Pager, Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';

const PER_PAGE = 25;
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

function Backup() {
  const { problem, isBusy, run } = useAction();
  const [done, setDone] = useState<Row>();
  const [isOthers, setOthers] = useState(true);
  const progress = useLoad(
    'backup',
    () => get('/admin/v1/backup'),
    isBusy || isOthers ? PROGRESS_MS : undefined,
  );
  const isRunning = isBusy || progress.value?.['running'] === true;
  // Another user may have started a backup. Without one, no further requests are needed.
  useEffect(() => {
    if (progress.value !== undefined) setOthers(progress.value['running'] === true);
  }, [progress.value]);
  const begin = () =>
    run(async () => {
      setDone(undefined);
      setDone(await call('POST', '/admin/v1/backup', {}));
      toast(t('The backup is complete.'));
    });
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
            done: megabytes(progress.value?.['bytes']),
            all: megabytes(progress.value?.['total_bytes']),
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
          columns={[
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
          ]}
        />
      )}
    </Card>
  );
}

function Unreadable() {
  const { fields, setAll } = useQuery({ page: '1' });
  const page = Number(fields.page);
  const path = '/admin/v1/unreadable-rows';
  const found = useLoad(`unreadable ${page}`, () =>
    get(`${path}?limit=${PER_PAGE}&offset=${(page - 1) * PER_PAGE}`),
  );
  const [open, setOpen] = useState<Row>();
  const { problem, run } = useAction();
  const list = found.value && rows(found.value['rows']);
  const remove = async (row: Row) => {
    const isSure = await confirmed({
      title: t('Remove this row from the list?'),
      detail: t(
        'The row stays in its table. An open call is deleted, and its reservations are released.',
      ),
      action: t('Remove from list'),
    });
    if (!isSure) return;
    const [table, key] = [row['table'], row['key']].map((one) => encodeURIComponent(text(one)));
    if (await run(() => call('DELETE', `${path}/${table}/${key}`))) found.again();
  };
  return (
    <section class="stack">
      <h2>{t('Unreadable rows')}</h2>
      <LoadProblem of={found} />
      <Problem text={problem} />
      <Table
        name={t('Unreadable rows')}
        rows={list}
        problem={found.problem}
        keyOf={(row) => `${text(row['table'])} ${text(row['key'])}`}
        empty={t('All rows can be read.')}
        columns={[
          { title: t('Table'), value: (row) => <code>{text(row['table'])}</code> },
          { title: t('Key'), value: (row) => <code>{text(row['key'])}</code> },
          { title: t('Reason'), value: (row) => sentence(row['reason']) },
          { title: t('Found'), value: (row) => <Ago value={row['found']} />, isMinor: true },
          {
            title: t('Actions'),
            isActions: true,
            value: (row) => (
              <Actions
                name={text(row['key'])}
                of={[
                  { label: t('Show stored columns'), act: () => setOpen(row) },
                  {
                    label: t('Remove from list'),
                    act: () => remove(row),
                    isDanger: true,
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
        total={number(found.value?.['total'])}
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
