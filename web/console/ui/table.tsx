/** Tables with permissions, sorting by visible values, and pagination on the server. */
import { ArrowDown, ArrowUp } from 'lucide';
import { Component, type ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { type Row, text } from '../api.ts';
import { count, zone } from '../format.ts';
import type { Loaded } from '../hooks.ts';
import { may, type Need } from '../may.ts';
import { t } from '../text.ts';
import { Icon } from './icon.tsx';
import { Empty, LoadProblem, Skeleton } from './parts.tsx';

export interface Column {
  readonly title: string;
  readonly value: (row: Row) => ComponentChildren;
  /** Value that the column sorts by. Absent: the column cannot sort. */
  readonly sort?: (row: Row) => string | number;
  readonly isNumber?: boolean;
  readonly isMinor?: boolean;
  /** Column with buttons; its title is for screen readers only. */
  readonly isActions?: boolean;
  /** Permission required to see the column. */
  readonly need?: Need;
}

interface TableProps {
  readonly name: string;
  readonly columns: readonly Column[];
  /** undefined while loading. */
  readonly rows: readonly Row[] | undefined;
  readonly empty: ComponentChildren;
  readonly keyOf?: (row: Row) => string;
  /** Error of the data; the table then shows no skeleton. */
  readonly problem?: string | undefined;
}

const classOf = ({ isNumber, isMinor, isActions }: Column): string =>
  [isNumber && 'num', isMinor && 'hide-small', isActions && 'actions'].filter(Boolean).join(' ');

const anyKey = (row: Row): string =>
  text(row['uuid'] ?? row['call_uuid'] ?? row['id'] ?? row['auth_id'] ?? '');

interface Sorting {
  readonly title: string;
  readonly isDown: boolean;
}

function sorted(rows: readonly Row[], columns: readonly Column[], by: Sorting | undefined) {
  const value = columns.find(({ title }) => title === by?.title)?.sort;
  if (value === undefined || by === undefined) return rows;
  const turn = by.isDown ? -1 : 1;
  return rows.toSorted((one, other) => {
    const [a, b] = [value(one), value(other)];
    return (
      turn *
      (typeof a === 'number' && typeof b === 'number' ? a - b : text(a).localeCompare(text(b)))
    );
  });
}

export function Table({ name, columns: all, rows, empty, keyOf = anyKey, problem }: TableProps) {
  const [by, setBy] = useState<Sorting>();
  const columns = useMemo(() => all.filter(({ need }) => need === undefined || may(need)), [all]);
  if (rows === undefined) return problem === undefined ? <Skeleton lines={5} /> : null;
  if (rows.length === 0)
    return <div>{typeof empty === 'string' ? <Empty title={empty} /> : empty}</div>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be reachable by keyboard
    <section class="table-wrap" aria-label={name} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <Header key={column.title} column={column} by={by} setBy={setBy} />
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted(rows, columns, by).map((row, at) => (
            <Line key={keyOf(row) || at} row={row} columns={columns} zone={zone()} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface LineProps {
  readonly row: Row;
  readonly columns: readonly Column[];
  /** Time zone of the times in the row. */
  readonly zone: string;
}

/** One row. A table with constant columns draws only the rows that changed: lists of running calls change every second. */
class Line extends Component<LineProps> {
  override shouldComponentUpdate({ row, columns, zone }: LineProps): boolean {
    const { props } = this;
    return columns !== props.columns || zone !== props.zone || !isSame(row, props.row);
  }

  override render({ row, columns }: LineProps) {
    return (
      <tr>
        {columns.map((column) => (
          <td key={column.title} class={classOf(column)}>
            {column.value(row)}
          </td>
        ))}
      </tr>
    );
  }
}

/** Returns whether both rows have the same values. Lists inside rows are compared by their texts. */
function isSame(row: Row, other: Row): boolean {
  if (row === other) return true;
  const names = Object.keys(row);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => {
      const [one, two] = [row[name], other[name]];
      return (
        one === two || (typeof one === 'object' && JSON.stringify(one) === JSON.stringify(two))
      );
    })
  );
}

interface HeaderProps {
  readonly column: Column;
  readonly by: Sorting | undefined;
  readonly setBy: (by: Sorting | undefined) => void;
}

function Header({ column, by, setBy }: HeaderProps) {
  const { title, sort, isActions } = column;
  if (isActions) {
    return (
      <th scope="col" class={classOf(column)}>
        <span class="sr">{title}</span>
      </th>
    );
  }
  const isBy = by?.title === title;
  if (sort === undefined) {
    return (
      <th scope="col" class={classOf(column)}>
        {title}
      </th>
    );
  }
  const next = !isBy ? { title, isDown: false } : by.isDown ? undefined : { title, isDown: true };
  return (
    <th
      scope="col"
      class={classOf(column)}
      aria-sort={isBy ? (by.isDown ? 'descending' : 'ascending') : 'none'}
    >
      <button type="button" class="sort" onClick={() => setBy(next)}>
        {title}
        {isBy && (by.isDown ? <Icon of={ArrowDown} size={12} /> : <Icon of={ArrowUp} size={12} />)}
      </button>
    </th>
  );
}

interface PagerProps {
  /** Number of the page, from 1. */
  readonly page: number;
  readonly set: (page: number) => void;
  readonly perPage: number;
  readonly shown: number;
  /** Number of all rows; undefined if the service does not count them. */
  readonly total?: number | undefined;
}

/** Buttons between pages of a list that the service paginates. */
export function Pager({ page, set, perPage, shown, total }: PagerProps) {
  const first = (page - 1) * perPage + 1;
  const hasNext = total === undefined ? shown === perPage : page * perPage < total;
  if (page === 1 && !hasNext && shown < 10) return null;
  const values = { first: count(first), last: count(first + shown - 1) };
  return (
    <nav class="pager" aria-label={t('Pagination')}>
      <span>
        {shown === 0
          ? t('No rows')
          : total === undefined
            ? t('{first}–{last}', values)
            : t('{first}–{last} of {total}', { ...values, total: count(total) })}
      </span>
      <span class="row">
        <button type="button" class="btn" disabled={page <= 1} onClick={() => set(page - 1)}>
          {t('Previous')}
        </button>
        <button type="button" class="btn" disabled={!hasNext} onClick={() => set(page + 1)}>
          {t('Next')}
        </button>
      </span>
    </nav>
  );
}

interface PagedTableProps extends Omit<TableProps, 'problem'> {
  readonly found: Pick<Loaded<unknown>, 'problem' | 'again'>;
  readonly pager: Omit<PagerProps, 'shown'>;
}

/** Table of one page of a list, with the error of its data and its pagination. */
export const PagedTable = ({ found, pager, ...table }: PagedTableProps) => (
  <>
    <LoadProblem of={found} />
    <Table {...table} problem={found.problem} />
    <Pager {...pager} shown={table.rows?.length ?? 0} />
  </>
);
