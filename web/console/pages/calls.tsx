import { useState } from 'preact/hooks';
import { get, type Row, rows, text } from '../api.ts';
import { clock, count, dateTime, money, words } from '../format.ts';
import { useLive, useLoad, useSettled } from '../hooks.ts';
import type { PageProps } from '../page-props.ts';
import { href, useQuery } from '../place.ts';
import { whyEnded } from '../reasons.ts';
import { t } from '../text.ts';
import { Badge, Empty, Head, LoadProblem, Mos, Since } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { CallPage } from './call.tsx';
import { endTone } from './call-end.ts';
import { CallFilters, EMPTY, type Filters, fitsLive, queryOf } from './call-filters.tsx';
import { ExportCalls } from './export-calls.tsx';
import { PlaceCall } from './place-call.tsx';
import { SavedViews } from './saved-views.tsx';

const PER_PAGE = 50;
/** Running calls in the list. They change every second. */
const RUNNING_MAX = 100;

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
    value: (row) => text(row['caller_id_number'] ?? row['from']),
    sort: (row) => text(row['caller_id_number'] ?? row['from']),
  },
  {
    title: t('To'),
    value: (row) => text(row['destination_number'] ?? row['to']),
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

/** Running and finished calls in one list. Filters are in the URL. */
function Calls({ account, isStaff }: PageProps) {
  const { fields: filters, setAll } = useQuery(EMPTY);
  const live = useLive();
  const settled = useSettled(JSON.stringify(filters));
  const asked = JSON.parse(settled) as Filters;
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const query = queryOf(asked);
  const cursor = cursors.at(-1) ?? '';
  const root = `/api/v1/Account/${account}/cdr`;
  const isLiveOnly = filters.state === 'live';
  const found = useLoad(
    `${account} ${query} ${cursor} ${live.total} ${isLiveOnly}`,
    (): Promise<Row> =>
      isLiveOnly
        ? Promise.resolve({ data: [] })
        : get(`${root}/page?${query}&limit=${PER_PAGE}${cursor && `&cursor=${cursor}`}`),
  );
  const isEverybody = isStaff && filters.accounts === 'all';
  const running = live.calls.filter(
    (one) =>
      filters.state !== 'ended' &&
      (isEverybody || !isStaff || one['account_id'] === account) &&
      fitsLive(one, filters),
  );
  const ended = found.value && rows(found.value['data']);
  const shown = cursors.length === 0 ? [...running.slice(0, RUNNING_MAX), ...(ended ?? [])] : ended;
  const change = (changes: Partial<Filters>) => {
    setCursors([]);
    setAll(changes);
  };
  const next = text(found.value?.['next_cursor']);
  const isPartial = found.value?.['reached_limit'] === true;
  return (
    <>
      <Head
        title={t('Calls')}
        about={t('Running and finished calls. Filters are part of the URL.')}
      >
        <Badge tone={live.state === 'live' ? 'good' : 'fair'}>
          {live.state === 'live'
            ? t('{n} running', { n: count(running.length) })
            : t('Connecting …')}
        </Badge>
        <ExportCalls
          path={isLiveOnly ? undefined : `${root}/export?${queryOf(filters)}`}
          running={running}
        />
        <PlaceCall account={account} />
      </Head>
      <SavedViews filters={filters} change={change} />
      <CallFilters filters={filters} change={change} account={account} isStaff={isStaff} />
      <LoadProblem of={found} />
      <Table
        name={t('Calls')}
        columns={isEverybody ? ALL_COLUMNS : COLUMNS}
        rows={ended === undefined && running.length === 0 ? undefined : shown}
        problem={found.problem}
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
      {running.length > RUNNING_MAX && cursors.length === 0 && (
        <p class="small muted">
          {t('{n} further running calls are not listed. Use a filter to find one.', {
            n: count(running.length - RUNNING_MAX),
          })}
        </p>
      )}
      <nav class="pager" aria-label={t('Pagination')}>
        <span>
          {isPartial
            ? t('Searched back to {time}.', { time: dateTime(found.value?.['searched_to']) })
            : t('Page {n}', { n: cursors.length + 1 })}
        </span>
        <span class="row">
          <button
            type="button"
            class="btn"
            disabled={cursors.length === 0}
            onClick={() => setCursors(cursors.slice(0, -1))}
          >
            {t('Newer')}
          </button>
          <button
            type="button"
            class="btn"
            disabled={next === ''}
            onClick={() => setCursors([...cursors, next])}
          >
            {isPartial ? t('Search older calls') : t('Older')}
          </button>
        </span>
      </nav>
    </>
  );
}
