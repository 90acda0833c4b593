import { useState } from 'preact/hooks';
import { call, get, part, type Row, rows, text } from '../api.ts';
import { clock, count, counted } from '../format.ts';
import { useAction, useFields, useLoad, useSettledFields } from '../hooks.ts';
import { may } from '../may.ts';
import type { PageProps } from '../page-props.ts';
import { href, useQuery } from '../place.ts';
import { t } from '../text.ts';
import { Input } from '../ui/form.tsx';
import { Actions, confirmed, Drawer, FormDrawer } from '../ui/overlay.tsx';
import { At, Badge, Empty, Facts, Head, LoadProblem, Party, Problem } from '../ui/parts.tsx';
import { Snippets } from '../ui/snippets.tsx';
import { type Column, Pager, Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';
import { fileOf, Recording } from './recording.tsx';
import { Exports } from './recording-exports.tsx';

const PER_PAGE = 25;
const EMPTY = { call_uuid: '', from_number: '', to_number: '', conference_name: '', page: '1' };

/** Recordings that match the filters of the URL. */
function useRecordings(account: string, root: string) {
  const { fields: filters, setAll } = useQuery(EMPTY);
  const { page, ...others } = useSettledFields(filters);
  const offset = (Number(page) - 1) * PER_PAGE;
  const query = new URLSearchParams(
    Object.entries(others).filter(([, value]) => value.trim() !== ''),
  );
  const found = useLoad(`${account} ${page} ${query}`, () =>
    get(`${root}?limit=${PER_PAGE}&offset=${offset}&${query}`),
  );
  const list = found.value && rows(found.value['objects']);
  const total = Number(part(found.value?.['meta'])['total_count'] ?? 0);
  return { filters, setAll, page, query, found, list, total };
}

/** Deletes a recording after a confirmation, and loads the list again. */
function useRemoval(root: string, again: () => void) {
  const { problem, run } = useAction();
  const remove = async (row: Row) => {
    const isSure = await confirmed({
      title: t('Delete this recording?'),
      detail: t('The file is deleted permanently.'),
      action: t('Delete recording'),
    });
    if (!isSure) return;
    const isDone = await run(() => call('DELETE', `${root}${text(row['recording_id'])}/`));
    if (isDone) toast(t('The recording is deleted.'));
    again();
  };
  return { problem, remove };
}

export function Recordings({ account }: PageProps) {
  const root = `/api/v1/Account/${account}/Recording/`;
  const { filters, setAll, page, query, found, list, total } = useRecordings(account, root);
  const [open, setOpen] = useState<Row>();
  const { problem, remove } = useRemoval(root, found.again);
  return (
    <>
      <Head title={t('Recordings')} about={t('Recorded calls and conferences of this account.')}>
        {may('change') && <DeleteOld root={root} again={found.again} />}
      </Head>
      <RecordingFilters filters={filters} change={(next) => setAll({ ...next, page: '1' })} />
      <LoadProblem of={found} />
      <Problem text={problem} />
      <Table
        name={t('Recordings')}
        rows={list}
        problem={found.problem}
        keyOf={(row) => text(row['recording_id'])}
        empty={<NoRecordings isFiltered={query.size > 0} />}
        columns={columnsOf(setOpen, remove)}
      />
      <Pager
        page={Number(page)}
        set={(next) => setAll({ page: String(next) })}
        perPage={PER_PAGE}
        shown={list?.length ?? 0}
        total={total}
      />
      <Snippets request={{ method: 'GET', path: `${root}?${query}` }} />
      <Exports account={account} />
      <RecordingDrawer account={account} row={open} close={() => setOpen(undefined)} />
    </>
  );
}

interface FilterProps {
  readonly filters: Readonly<typeof EMPTY>;
  readonly change: (changes: Partial<typeof EMPTY>) => void;
}

const RecordingFilters = ({ filters, change }: FilterProps) => (
  <form class="filters" onSubmit={(event) => event.preventDefault()}>
    <Input
      label={t('Call UUID')}
      type="search"
      value={filters.call_uuid}
      set={(value) => change({ call_uuid: value })}
      wider
    />
    <Input
      label={t('From')}
      value={filters.from_number}
      set={(value) => change({ from_number: value })}
    />
    <Input
      label={t('To')}
      value={filters.to_number}
      set={(value) => change({ to_number: value })}
    />
    <Input
      label={t('Conference')}
      value={filters.conference_name}
      set={(value) => change({ conference_name: value })}
    />
  </form>
);

const NoRecordings = ({ isFiltered }: { readonly isFiltered: boolean }) => (
  <Empty title={isFiltered ? t('No recording matches.') : t('No recordings yet.')}>
    <p>
      {t(
        'Use the Record element in a document, or start a recording on the page of a running call.',
      )}
    </p>
    <a class="btn" href={href('playground')}>
      {t('Open playground')}
    </a>
  </Empty>
);

const columnsOf = (
  open: (row: Row) => void,
  remove: (row: Row) => Promise<void>,
): readonly Column[] => [
  {
    title: t('Time'),
    value: (row) => (
      <button type="button" class="btn quiet tiny" onClick={() => open(row)}>
        <At value={text(row['add_time']).replace(' ', 'T')} />
      </button>
    ),
    sort: (row) => text(row['add_time']),
  },
  ...COLUMNS,
  {
    title: t('Actions'),
    isActions: true,
    value: (row) => (
      <Actions
        name={text(row['recording_id'])}
        of={[
          { label: t('Play'), act: () => open(row) },
          {
            label: t('Delete recording'),
            act: () => remove(row),
            isDanger: true,
            need: 'change',
          },
        ]}
      />
    ),
  },
];

const COLUMNS: readonly Column[] = [
  {
    title: t('From'),
    value: (row) => <Party value={row['from_number']} />,
    sort: (row) => text(row['from_number']),
  },
  {
    title: t('To'),
    value: (row) => <Party value={row['to_number']} />,
    sort: (row) => text(row['to_number']),
  },
  {
    title: t('Conference'),
    value: (row) => text(row['conference_name']),
    isMinor: true,
  },
  {
    title: t('Length'),
    value: (row) => clock(Number(row['recording_duration_ms']) / 1000),
    sort: (row) => Number(row['recording_duration_ms']),
    isNumber: true,
  },
  {
    title: t('Format'),
    value: (row) => <Badge>{text(row['recording_format'])}</Badge>,
    isMinor: true,
  },
  {
    title: t('Age'),
    value: (row) => {
      const n = Number(row['recording_storage_duration']);
      return counted(n, t('1 day'), t('{n} days', { n }));
    },
    sort: (row) => Number(row['recording_storage_duration']),
    isNumber: true,
    isMinor: true,
  },
];

interface DrawerProps {
  readonly account: string;
  /** The recording to show; undefined closes the drawer. */
  readonly row: Row | undefined;
  readonly close: () => void;
}

const RecordingDrawer = ({ account, row, close }: DrawerProps) => (
  <Drawer title={t('Recording')} isOpen={row !== undefined} close={close} isWide>
    <div class="body">
      {row && <Recording account={account} recording={row} isOpen />}
      {row && (
        <Facts
          of={[
            [t('Recording ID'), <code key="id">{text(row['recording_id'])}</code>],
            [
              t('Call'),
              <a key="call" href={href(`calls/${text(row['call_uuid'])}`)}>
                {text(row['call_uuid'])}
              </a>,
            ],
            [t('Type'), text(row['recording_type'])],
            [t('File'), <code key="file">{fileOf(account, row)}</code>],
          ]}
        />
      )}
    </div>
  </Drawer>
);

/** Deletes all recordings older than a number of days. */
function DeleteOld({ root, again }: { readonly root: string; readonly again: () => void }) {
  const [isOpen, setOpen] = useState(false);
  const { fields, set } = useFields({ days: '90' });
  const { problem, isBusy, run } = useAction();
  const remove = () =>
    run(async () => {
      const done = await call('DELETE', `${root}BulkDelete/`, {
        recording_storage_duration__gte: fields.days,
      });
      setOpen(false);
      toast(t('Deleted {n} recordings.', { n: count(done['deleted']) }));
      again();
    });
  return (
    <>
      <button type="button" class="btn" onClick={() => setOpen(true)}>
        {t('Delete old recordings')}
      </button>
      <FormDrawer
        title={t('Delete old recordings')}
        isOpen={isOpen}
        close={() => setOpen(false)}
        submit={t('Delete recordings')}
        act={() => void remove()}
        problem={problem}
        isBusy={isBusy}
      >
        <Input
          label={t('Minimum age in days')}
          hint={t('All recordings of the account with at least this age are deleted permanently.')}
          value={fields.days}
          set={set('days')}
          required
        />
      </FormDrawer>
    </>
  );
}
