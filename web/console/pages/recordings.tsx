import { useEffect, useState } from 'preact/hooks';
import { call, get, part, type Row, rows, text } from '../api.ts';
import { clock, count, counted } from '../format.ts';
import { useAction, useFields, useLoad, useSettledFields } from '../hooks.ts';
import { may } from '../may.ts';
import type { PageProps } from '../page-props.ts';
import { href, useQuery } from '../place.ts';
import { t } from '../text.ts';
import { Input, Save } from '../ui/form.tsx';
import { Actions, confirmed, Drawer, FormDrawer } from '../ui/overlay.tsx';
import { At, Badge, Card, Empty, Facts, Head, LoadProblem, Party, Problem } from '../ui/parts.tsx';
import { Snippets } from '../ui/snippets.tsx';
import { Pager, Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';
import { fileOf, Recording } from './recording.tsx';

const PER_PAGE = 25;
const EMPTY = { call_uuid: '', from_number: '', to_number: '', conference_name: '', page: '1' };

export function Recordings({ account }: PageProps) {
  const root = `/api/v1/Account/${account}/Recording/`;
  const { fields: filters, setAll } = useQuery(EMPTY);
  const { page, ...others } = useSettledFields(filters);
  const offset = (Number(page) - 1) * PER_PAGE;
  const query = new URLSearchParams(
    Object.entries(others).filter(([, value]) => value.trim() !== ''),
  );
  const found = useLoad(`${account} ${page} ${query}`, () =>
    get(`${root}?limit=${PER_PAGE}&offset=${offset}&${query}`),
  );
  const [open, setOpen] = useState<Row>();
  const { problem, run } = useAction();
  const set = (name: keyof typeof EMPTY) => (value: string) => setAll({ [name]: value, page: '1' });
  const remove = async (row: Row) => {
    const isSure = await confirmed({
      title: t('Delete this recording?'),
      detail: t('The file is deleted permanently.'),
      action: t('Delete recording'),
    });
    if (!isSure) return;
    const isDone = await run(() => call('DELETE', `${root}${text(row['recording_id'])}/`));
    if (isDone) toast(t('The recording is deleted.'));
    found.again();
  };
  const list = found.value && rows(found.value['objects']);
  const total = Number(part(found.value?.['meta'])['total_count'] ?? 0);
  return (
    <>
      <Head title={t('Recordings')} about={t('Recorded calls and conferences of this account.')}>
        {may('change') && <DeleteOld root={root} again={found.again} />}
      </Head>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <Input
          label={t('Call UUID')}
          type="search"
          value={filters.call_uuid}
          set={set('call_uuid')}
          wider
        />
        <Input label={t('From')} value={filters.from_number} set={set('from_number')} />
        <Input label={t('To')} value={filters.to_number} set={set('to_number')} />
        <Input
          label={t('Conference')}
          value={filters.conference_name}
          set={set('conference_name')}
        />
      </form>
      <LoadProblem of={found} />
      <Problem text={problem} />
      <Table
        name={t('Recordings')}
        rows={list}
        problem={found.problem}
        keyOf={(row) => text(row['recording_id'])}
        empty={
          <Empty title={query.size > 0 ? t('No recording matches.') : t('No recordings yet.')}>
            <p>
              {t(
                'Use the Record element in a document, or start a recording on the page of a running call.',
              )}
            </p>
            <a class="btn" href={href('playground')}>
              {t('Open playground')}
            </a>
          </Empty>
        }
        columns={[
          {
            title: t('Time'),
            value: (row) => (
              <button type="button" class="btn quiet tiny" onClick={() => setOpen(row)}>
                <At value={text(row['add_time']).replace(' ', 'T')} />
              </button>
            ),
            sort: (row) => text(row['add_time']),
          },
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
          {
            title: t('Actions'),
            isActions: true,
            value: (row) => (
              <Actions
                name={text(row['recording_id'])}
                of={[
                  { label: t('Play'), act: () => setOpen(row) },
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
        ]}
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
      <Drawer
        title={t('Recording')}
        isOpen={open !== undefined}
        close={() => setOpen(undefined)}
        isWide
      >
        <div class="body">
          {open && <Recording account={account} recording={open} />}
          {open && (
            <Facts
              of={[
                [t('Recording ID'), <code key="id">{text(open['recording_id'])}</code>],
                [
                  t('Call'),
                  <a key="call" href={href(`calls/${text(open['call_uuid'])}`)}>
                    {text(open['call_uuid'])}
                  </a>,
                ],
                [t('Type'), text(open['recording_type'])],
                [t('File'), <code key="file">{fileOf(account, open)}</code>],
              ]}
            />
          )}
        </div>
      </Drawer>
    </>
  );
}

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

const EVERY_MS = 3000;

/** Exports of recordings with their progress. */
function Exports({ account }: { readonly account: string }) {
  const path = `/api/v1/Account/${account}/export/recording/`;
  const found = useLoad(account, () => get(`${path}?limit=5`));
  const [isOpen, setOpen] = useState(false);
  const [mail, setMail] = useState('');
  const { problem, isBusy, run } = useAction();
  const list = found.value && rows(found.value['objects']);
  const isWorking = list?.some(({ state }) => state === 'queued' || state === 'running');
  useEffect(() => {
    if (!isWorking) return undefined;
    const timer = setInterval(found.again, EVERY_MS);
    return () => clearInterval(timer);
  }, [isWorking, found.again]);
  const send = () =>
    run(async () => {
      await call('POST', path, { recipient: { customer_account: [mail] } });
      setOpen(false);
      toast(t('The export is queued.'));
      found.again();
    });
  return (
    <Card
      title={t('Exports')}
      flush
      actions={
        may('change') && (
          <button type="button" class="btn" onClick={() => setOpen(true)}>
            {t('Export recordings')}
          </button>
        )
      }
    >
      <LoadProblem of={found} />
      <Table
        name={t('Exports')}
        rows={list}
        problem={found.problem}
        empty={t('No exports yet. An export contains the recordings of the last seven days.')}
        columns={[
          { title: t('Requested'), value: (row) => <At value={row['created_at']} /> },
          {
            title: t('State'),
            value: (row) => (
              <Badge
                tone={row['state'] === 'failed' ? 'bad' : row['state'] === 'done' ? 'good' : 'info'}
              >
                {`${text(row['state'])} ${text(row['progress'])} %`}
              </Badge>
            ),
          },
          { title: t('Recordings'), value: (row) => text(row['recordings']), isNumber: true },
          {
            title: t('File'),
            value: (row) =>
              row['state'] === 'done' && (
                <Save
                  path={`${path}${text(row['export_id'])}.zip`}
                  name={`recordings-${text(row['export_id'])}.zip`}
                >
                  {t('Download')}
                </Save>
              ),
          },
        ]}
      />
      <FormDrawer
        title={t('Export recordings')}
        isOpen={isOpen}
        close={() => setOpen(false)}
        submit={t('Export')}
        act={() => void send()}
        problem={problem}
        isBusy={isBusy}
      >
        <p>{t('The export contains the recordings of the last seven days as one ZIP file.')}</p>
        <Input
          label={t('Email the download link to')}
          type="email"
          value={mail}
          set={setMail}
          required
        />
      </FormDrawer>
    </Card>
  );
}
