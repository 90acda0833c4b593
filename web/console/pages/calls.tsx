import { useEffect, useState } from 'preact/hooks';
import { call, get, number, type Row, rows, text } from '../api.ts';
import { clock, count, dateTime, money, words } from '../format.ts';
import { type Live, useAction, useLive, useLoad, useSettledFields } from '../hooks.ts';
import { may } from '../may.ts';
import type { PageProps } from '../page-props.ts';
import { href, useQuery } from '../place.ts';
import { whyEnded } from '../reasons.ts';
import { t } from '../text.ts';
import { textColumn } from '../ui/columns.tsx';
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

const fromOf = (row: Row): unknown => row['caller_id_number'] ?? row['from'];
const toOf = (row: Row): unknown => row['destination_number'] ?? row['to'];
const directionOf = (row: Row): unknown => row['call_direction'] ?? row['direction'];

const COLUMNS: readonly Column[] = [
  textColumn(t('Start'), 'start_time', {
    value: (row) => (
      <a href={href(`calls/${idOf(row)}`)} class="nowrap">
        {dateTime(row['start_time'])}
      </a>
    ),
  }),
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
    value: (row) => <Party value={fromOf(row)} />,
    sort: (row) => text(fromOf(row)),
  },
  { title: t('To'), value: (row) => <Party value={toOf(row)} />, sort: (row) => text(toOf(row)) },
  {
    title: t('Direction'),
    value: (row) => words(directionOf(row)),
    sort: (row) => text(directionOf(row)),
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

/** Page of the list: pages of running calls, then pages of finished calls. */
function usePosition() {
  /** Page of running calls, from 0. */
  const [livePage, setLivePage] = useState(0);
  /** Cursors of the pages of finished calls. */
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const reset = () => {
    setCursors([]);
    setLivePage(0);
  };
  const newer = () =>
    cursors.length > 0 ? setCursors(cursors.slice(0, -1)) : setLivePage(livePage - 1);
  /** Goes to the next page of running calls, or to the finished calls after a cursor. */
  const older = (cursor: string | undefined) =>
    cursor === undefined ? setLivePage(livePage + 1) : setCursors([...cursors, cursor]);
  return { livePage, cursors, reset, newer, older };
}

/** One page of the calls that match the filters. `scope` is the account of the running calls; undefined: all accounts. */
function useCalls(root: string, asked: Filters, scope: string | undefined, feed: Live) {
  const position = usePosition();
  const query = queryOf(asked);
  const cursor = position.cursors.at(-1) ?? '';
  const live = useLivePage(liveQueryOf(asked, scope), position.livePage * PER_PAGE, feed);
  const isLastLive = (position.livePage + 1) * PER_PAGE >= number(live.value?.['total']);
  const isLiveOnly = asked.state === 'live';
  const found = useLoad(
    `${root} ${query} ${cursor} ${isLiveOnly} ${isLastLive}`,
    (): Promise<Row> =>
      isLiveOnly || !isLastLive
        ? Promise.resolve({ data: [] })
        : get(`${root}/page?${query}&limit=${PER_PAGE}${cursor && `&cursor=${cursor}`}`),
  );
  // A call that has ended is in the list of finished calls.
  const { again } = found;
  useEffect(again, [feed.ended, again]);
  const ended = found.value && rows(found.value['data']);
  const running = position.cursors.length === 0 ? rows(live.value?.['calls']) : [];
  const isLoading = (ended === undefined && running.length === 0) || live.value === undefined;
  const list = isLoading ? undefined : [...running, ...(ended ?? [])];
  return { position, query, live, found, isLastLive, list };
}

/** Running and finished calls in one list. Filters are in the URL. */
function Calls({ account, isStaff }: PageProps) {
  const { fields: filters, setAll } = useQuery(EMPTY);
  const feed = useLive();
  const asked = useSettledFields(filters);
  const root = `/api/v1/Account/${account}/cdr`;
  const isEverybody = isStaff && asked.accounts === 'all';
  // Undefined selects the running calls of all accounts that the user may see.
  const scope = isEverybody || !isStaff ? undefined : account;
  const calls = useCalls(root, asked, scope, feed);
  const { position, query, live, found, list } = calls;
  const change = (changes: Partial<Filters>) => {
    position.reset();
    setAll(changes);
  };
  return (
    <>
      <Head
        title={t('Calls')}
        about={t('Running and finished calls. Filters are part of the URL.')}
      >
        <Badge tone={feed.state === 'live' ? 'good' : 'fair'}>
          {feed.state === 'live'
            ? t('{n} running', { n: count(number(live.value?.['running'])) })
            : t('Connecting …')}
        </Badge>
        <ExportCalls
          path={filters.state === 'live' ? undefined : `${root}/export?${queryOf(filters)}`}
          live={liveQueryOf(filters, scope)}
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
        rows={list}
        problem={live.problem ?? found.problem}
        keyOf={idOf}
        empty={<NoCalls isFiltered={query !== ''} clear={() => change(EMPTY)} />}
      />
      <Pages of={calls} />
      <Snippets request={{ method: 'GET', path: `${root}/page?${query}&limit=${PER_PAGE}` }} />
    </>
  );
}

interface NoCallsProps {
  readonly isFiltered: boolean;
  /** Clears the filters. */
  readonly clear: () => void;
}

const NoCalls = ({ isFiltered, clear }: NoCallsProps) =>
  isFiltered ? (
    <Empty title={t('No call matches these filters.')}>
      <p>{t('Remove a filter or search a longer period.')}</p>
      <button type="button" class="btn" onClick={clear}>
        {t('Clear filters')}
      </button>
    </Empty>
  ) : (
    <Empty title={t('No calls yet.')}>
      <p>{t('Register an endpoint and call an application to see the first call.')}</p>
      <a class="btn primary" href={href('endpoints')}>
        {t('Create endpoint')}
      </a>
    </Empty>
  );

/** Position in the list, and buttons for newer and older calls. */
function Pages({ of }: { readonly of: ReturnType<typeof useCalls> }) {
  const { livePage, cursors, newer, older } = of.position;
  const reply = of.found.value;
  const next = text(reply?.['next_cursor']);
  const isPartial = reply?.['reached_limit'] === true;
  return (
    <nav class="pager" aria-label={t('Pagination')}>
      <span>
        {isPartial
          ? t('Searched back to {time}.', { time: dateTime(reply['searched_to']) })
          : t('Page {n}', { n: count(livePage + cursors.length + 1) })}
      </span>
      <span class="row">
        <button
          type="button"
          class="btn"
          disabled={cursors.length === 0 && livePage === 0}
          onClick={newer}
        >
          {t('Newer')}
        </button>
        <button
          type="button"
          class="btn"
          disabled={of.isLastLive && next === ''}
          onClick={() => older(of.isLastLive ? next : undefined)}
        >
          {isPartial ? t('Search older calls') : t('Older')}
        </button>
      </span>
    </nav>
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
