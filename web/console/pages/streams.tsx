import { useEffect, useState } from 'preact/hooks';
import { call, get, getIfAny, number, type Row, rows, text } from '../api.ts';
import { words } from '../format.ts';
import { useAction, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import type { PageProps } from '../page-props.ts';
import { href } from '../place.ts';
import { t } from '../text.ts';
import { Actions, confirmed, Drawer } from '../ui/overlay.tsx';
import { Badge, CopyText, Empty, Head, LoadProblem, Mos, Problem, Since } from '../ui/parts.tsx';
import { type Column, Pager, Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';
import { ListenIn, StreamInspector } from './listen.tsx';
import { StreamTest } from './stream-test.tsx';

/** Running calls of a page. Each needs a request for its streams. */
const PER_PAGE = 25;
const EVERY_MS = 3000;

/** Streams of one page of the running calls that the user may see. */
function useStreams({ account, isStaff }: PageProps, root: string, page: number) {
  const scope = isStaff ? `account_id=${account}&` : '';
  const slice = `limit=${PER_PAGE}&offset=${(page - 1) * PER_PAGE}`;
  return useLoad(
    `${account} ${page}`,
    async () => {
      // The feed has a part of the calls of a busy service.
      const reply = await get(`/console/api/live-calls?${scope}bot=true&${slice}`);
      const calls = rows(reply['calls']);
      const each = calls.map(async (one) => {
        const own = await getIfAny(`${root}${text(one['call_uuid'])}/Stream/`);
        return rows(own?.['objects']).map((stream): Row => ({ ...one, ...stream }));
      });
      const streams = (await Promise.all(each)).flat();
      return { streams, shown: calls.length, total: number(reply['total']) };
    },
    EVERY_MS,
  );
}

/** Stops a stream after a confirmation, and loads the list again. */
function useStop(root: string, again: () => void) {
  const { problem, run } = useAction();
  const stop = async (row: Row) => {
    const isSure = await confirmed({
      title: t('Stop this stream?'),
      detail: t('The bot is disconnected. The document of the call continues.'),
      action: t('Stop stream'),
    });
    if (!isSure) return;
    const path = `${root}${text(row['call_uuid'])}/Stream/${text(row['stream_id'])}/`;
    if (await run(() => call('DELETE', path))) toast(t('The stream has stopped.'));
    again();
  };
  return { problem, stop };
}

/** Streams of running calls to bots. */
export function Streams(props: PageProps) {
  const { account } = props;
  const root = `/api/v1/Account/${account}/Call/`;
  const [page, setPage] = useState(1);
  const found = useStreams(props, root, page);
  const { streams, shown = 0, total } = found.value ?? {};
  // The calls of the last page have ended.
  const isBeyond = page > 1 && found.value !== undefined && shown === 0;
  useEffect(() => {
    if (isBeyond) setPage(page - 1);
  }, [isBeyond, page]);
  const [open, setOpen] = useState<Row>();
  const { problem, stop } = useStop(root, found.again);
  return (
    <>
      <Head
        title={t('Streams')}
        about={t(
          'WebSocket streams between running calls and bots, with their audio and messages.',
        )}
      >
        {may('change') && <StreamTest account={account} />}
      </Head>
      <LoadProblem of={found} />
      <Problem text={problem} />
      <Table
        name={t('Streams')}
        rows={streams}
        problem={found.problem}
        keyOf={(row) => text(row['stream_id'])}
        empty={
          <Empty title={t('No bot is connected.')}>
            <p>{t('A stream starts when a call runs a Stream element.')}</p>
            <a class="btn" href={href('playground')}>
              {t('Open playground')}
            </a>
          </Empty>
        }
        columns={[...COLUMNS, actionsColumn(setOpen, stop)]}
      />
      <Pager page={page} set={setPage} perPage={PER_PAGE} shown={shown} total={total} />
      <StreamDrawer account={account} row={open} close={() => setOpen(undefined)} />
    </>
  );
}

const COLUMNS: readonly Column[] = [
  {
    title: t('Call'),
    value: (row) => (
      <a href={href(`calls/${text(row['call_uuid'])}`)}>
        {text(row['from'])} → {text(row['to'])}
      </a>
    ),
  },
  { title: t('Bot'), value: (row) => <code>{text(row['service_url'])}</code> },
  {
    title: t('Audio'),
    value: (row) =>
      `${text(row['content_type']).replace('audio/x-', '')} ${text(row['sampling_rate'])} Hz`,
    isMinor: true,
  },
  {
    title: t('State'),
    value: (row) => (
      <Badge tone={row['status'] === 'connected' || row['status'] === 'started' ? 'good' : 'fair'}>
        {words(row['status'])}
      </Badge>
    ),
    sort: (row) => text(row['status']),
  },
  { title: t('MOS'), value: (row) => <Mos value={row['mos']} />, isMinor: true },
  { title: t('Time'), value: (row) => <Since value={row['start_time']} />, isNumber: true },
];

const actionsColumn = (inspect: (row: Row) => void, stop: (row: Row) => Promise<void>): Column => ({
  title: t('Actions'),
  isActions: true,
  need: 'change',
  value: (row) => (
    <Actions
      name={text(row['stream_id'])}
      of={[
        { label: t('Inspect stream'), act: () => inspect(row) },
        { label: t('Stop stream'), act: () => stop(row), isDanger: true },
      ]}
    />
  ),
});

interface DrawerProps {
  readonly account: string;
  /** The stream to show; undefined closes the drawer. */
  readonly row: Row | undefined;
  readonly close: () => void;
}

const StreamDrawer = ({ account, row, close }: DrawerProps) => (
  <Drawer title={t('Stream')} isOpen={row !== undefined} close={close} isWide>
    <div class="body">
      {row && (
        <>
          <CopyText value={text(row['stream_id'])} />
          <StreamInspector account={account} uuid={text(row['call_uuid'])} />
          <ListenIn account={account} uuid={text(row['call_uuid'])} />
        </>
      )}
    </div>
  </Drawer>
);
