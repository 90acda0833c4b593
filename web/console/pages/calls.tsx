import { useEffect, useState } from 'preact/hooks';
import { call, get, number, type Row, rows, text } from '../api.ts';
import { clock, count, dateTime, money, words } from '../format.ts';
import { type Live, useAction, useLive, useLoad, useSettledFields } from '../hooks.ts';
import { may } from '../may.ts';
import type { PageProps } from '../page-props.ts';
import { href, useQuery } from '../place.ts';
import { whyEnded } from '../reasons.ts';
import { t } from '../text.ts';
import { confirmed } from '../ui/overlay.tsx';
import { Badge, Empty, Head, LoadProblem, Mos, Party, Problem, Since } from '../ui/parts.tsx';
import { Snippets } from '../ui/snippets.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';
import { CallPage } from './call.tsx';
import { endTone } from './call-end.ts';
import { CallFilters, EMPTY, type Filters, liveQueryOf, queryOf } from './call-filters.tsx';
import { ExportCalls } from './export-calls.tsx';
import { PlaceCall } from './place-call.tsx';
import { SavedViews } from './saved-views.tsx';

const PER_PAGE = 50;
/** Queued calls are not part of the feed. */
const QUEUE_MS = 5000;

export const CallsPages = (props: PageProps) =>
  props.rest[0] === undefined ? (
    <Calls {...props} />
  ) : (
    <CallPage key={props.rest[0]} {...props} uuid={props.rest[0]} />
  );

const isLive = (row: Row): boolean => row['call_status'] !== undefined;
const idOf = (row: Row): string => text(row['uuid'] ?? row['call_uuid']);

const COLUMNS: readonly Column[] = [
  {
    title: t('Start'),
    value: (row) => (
      <a href={href(`calls/${idOf(row)}`)} class="nowrap">
        {dateTime(row['start_time'])}
      </a>
    ),
    sort: (row) => text(row['start_time']),
  },
  {
    title: t('State'),
    value: (row) =>
      isLive(row) ? (
        <Badge tone="info">{words(row['call_status'])}</Badge>
      ) : (
        <span title={whyEnded(row)}>
          <Badge tone={endTone(row)}>{text(row['hangup_cause_name'])}</Badge>
        </span>
      ),
    sort: (row) => text(row['call_status'] ?? row['hangup_cause_name']),
  },
  {
    title: t('From'),
    value: (row) => <Party value={row['caller_id_number'] ?? row['from']} />,
    sort: (row) => text(row['caller_id_number'] ?? row['from']),
  },
  {
    title: t('To'),
    value: (row) => <Party value={row['destination_number'] ?? row['to']} />,
    sort: (row) => text(row['destination_number'] ?? row['to']),
  },
  {
    title: t('Direction'),
    value: (row) => words(row['call_direction'] ?? row['direction']),
    sort: (row) => text(row['call_direction'] ?? row['direction']),
    isMinor: true,
  },
  {
    title: t('Answered time'),
    value: (row) =>
      isLive(row) ? <Since value={row['start_time']} /> : clock(Number(row['billsec'] ?? 0)),
    sort: (row) => Number(row['billsec'] ?? 0),
    isNumber: true,
  },
  {
    title: t('MOS'),
    value: (row) => <Mos value={row['mos']} />,
    sort: (row) => Number(row['mos'] ?? 0),
    isMinor: true,
  },
  {
    title: t('Cost'),
    value: (row) => money(row['total_cost'], row['currency']),
    sort: (row) => Number(row['total_cost'] ?? 0),
    isNumber: true,
    isMinor: true,
  },
];

const ACCOUNT_COLUMN: Column = {
  title: t('Account'),
  value: (row) => <code>{text(row['account_id'])}</code>,
  isMinor: true,
};

const ALL_COLUMNS = [ACCOUNT_COLUMN, ...COLUMNS];

/** Running and finished calls in one list: pages of running calls, then pages of finished ones. Filters are in the URL. */
function Calls({ account, isStaff }: PageProps) {
  const { fields: filters, setAll } = useQuery(EMPTY);
  const feed = useLive();
  const asked = useSettledFields(filters);
  /** Page of running calls, from 0, and the cursors of the pages of finished calls. */
  const [livePage, setLivePage] = useState(0);
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const query = queryOf(asked);
  const cursor = cursors.at(-1) ?? '';
  const root = `/api/v1/Account/${account}/cdr`;
  const isEverybody = isStaff && asked.accounts === 'all';
  const liveQuery = liveQueryOf(asked, isEverybody || !isStaff ? undefined : account);
  const live = useLivePage(liveQuery, livePage * PER_PAGE, feed);
  const total = number(live.value?.['total']);
  const running = number(live.value?.['running']);
  const isLastLive = (livePage + 1) * PER_PAGE >= total;
  const isLiveOnly = asked.state === 'live';
  const found = useLoad(
    `${account} ${query} ${cursor} ${isLiveOnly} ${isLastLive}`,
    (): Promise<Row> =>
      isLiveOnly || !isLastLive
        ? Promise.resolve({ data: [] })
        : get(`${root}/page?${query}&limit=${PER_PAGE}${cursor && `&cursor=${cursor}`}`),
  );
  // A call that has ended is in the list of finished calls.
  const { again } = found;
  useEffect(again, [feed.total, again]);
  const ended = found.value && rows(found.value['data']);
  const shownLive = cursors.length === 0 ? rows(live.value?.['calls']) : [];
  const isLoading = (ended === undefined && shownLive.length === 0) || live.value === undefined;
  const change = (changes: Partial<Filters>) => {
    setCursors([]);
    setLivePage(0);
    setAll(changes);
  };
  const next = text(found.value?.['next_cursor']);
  const isPartial = found.value?.['reached_limit'] === true;
  const isFirst = cursors.length === 0 && livePage === 0;
  const newer = () =>
    cursors.length > 0 ? setCursors(cursors.slice(0, -1)) : setLivePage(livePage - 1);
  const older = () => (isLastLive ? setCursors([...cursors, next]) : setLivePage(livePage + 1));
  return (
    <>
      <Head
        title={t('Calls')}
        about={t('Running and finished calls. Filters are part of the URL.')}
      >
        <Badge tone={feed.state === 'live' ? 'good' : 'fair'}>
          {feed.state === 'live' ? t('{n} running', { n: count(running) }) : t('Connecting …')}
        </Badge>
        <ExportCalls
          path={filters.state === 'live' ? undefined : `${root}/export?${queryOf(filters)}`}
          live={liveQueryOf(filters, isEverybody || !isStaff ? undefined : account)}
        />
        <PlaceCall account={account} />
      </Head>
      <SavedViews filters={filters} change={change} />
      <CallFilters filters={filters} change={change} account={account} isStaff={isStaff} />
      {!isEverybody && (
        <QueuedRequests account={account} list={rows(live.value?.['requests'])} done={live.again} />
      )}
      <LoadProblem of={live} />
      <LoadProblem of={found} />
      <Table
        name={t('Calls')}
        columns={isEverybody ? ALL_COLUMNS : COLUMNS}
        rows={isLoading ? undefined : [...shownLive, ...(ended ?? [])]}
        problem={live.problem ?? found.problem}
        keyOf={idOf}
        empty={
          <Empty title={query === '' ? t('No calls yet.') : t('No call matches these filters.')}>
            <p>
              {query === ''
                ? t('Register an endpoint and call an application to see the first call.')
                : t('Remove a filter or search a longer period.')}
            </p>
            {query === '' ? (
              <a class="btn primary" href={href('endpoints')}>
                {t('Create endpoint')}
              </a>
            ) : (
              <button type="button" class="btn" onClick={() => change(EMPTY)}>
                {t('Clear filters')}
              </button>
            )}
          </Empty>
        }
      />
      <nav class="pager" aria-label={t('Pagination')}>
        <span>
          {isPartial
            ? t('Searched back to {time}.', { time: dateTime(found.value?.['searched_to']) })
            : t('Page {n}', { n: count(livePage + cursors.length + 1) })}
        </span>
        <span class="row">
          <button type="button" class="btn" disabled={isFirst} onClick={newer}>
            {t('Newer')}
          </button>
          <button type="button" class="btn" disabled={isLastLive && next === ''} onClick={older}>
            {isPartial ? t('Search older calls') : t('Older')}
          </button>
        </span>
      </nav>
      <Snippets request={{ method: 'GET', path: `${root}/page?${query}&limit=${PER_PAGE}` }} />
    </>
  );
}

/** Loads one page of running calls again after each change of the running calls. */
function useLivePage(query: string | undefined, offset: number, feed: Live) {
  const found = useLoad(
    `${query} ${offset}`,
    (): Promise<Row> =>
      query === undefined
        ? Promise.resolve({ total: 0 })
        : get(`/console/api/live-calls?${query}&limit=${PER_PAGE}&offset=${offset}`),
    QUEUE_MS,
  );
  const { again } = found;
  useEffect(again, [feed.calls, feed.total, again]);
  return found;
}

interface RequestsProps {
  readonly account: string;
  readonly list: readonly Row[];
  readonly done: () => void;
}

/** Requests whose calls still wait, with a button that cancels these calls. */
function QueuedRequests({ account, list, done }: RequestsProps) {
  const { problem, run } = useAction();
  const cancel = async (uuid: string) => {
    const isSure = await confirmed({
      title: t('Cancel the queued calls of this request?'),
      detail: t('Calls that already run continue.'),
      action: t('Cancel queued calls'),
    });
    if (!isSure) return;
    const isDone = await run(() => call('DELETE', `/api/v1/Account/${account}/Request/${uuid}/`));
    if (isDone) toast(t('The queued calls are cancelled.'));
    done();
  };
  if (list.length === 0) return null;
  return (
    <>
      <Problem text={problem} />
      {list.map((one) => {
        const uuid = text(one['request_uuid']);
        return (
          <div class="callout" key={uuid}>
            <div class="row between">
              <span>
                {t('Queued calls of request {uuid}: {n}', { uuid, n: count(one['queued']) })}
              </span>
              {may('change') && (
                <button type="button" class="btn tiny" onClick={() => void cancel(uuid)}>
                  {t('Cancel queued calls')}
                </button>
              )}
            </div>
          </div>
        );
      })}
    </>
  );
}
