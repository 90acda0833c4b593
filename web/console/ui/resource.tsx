/** Page of one kind of object: list with pages, create, edit and delete. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call, get, part, type Row, rows } from '../api.ts';
import { useAction, useLoad, useSettled } from '../hooks.ts';
import { may, type Need } from '../may.ts';
import { useQuery } from '../place.ts';
import { t } from '../text.ts';
import { Editor, type FieldSpec } from './editor.tsx';
import { Input } from './form.tsx';
import { type Action, Actions, confirmed } from './overlay.tsx';
import { Empty, HeadAction, LoadProblem, Problem } from './parts.tsx';
import { Snippets } from './snippets.tsx';
import { type Column, Pager, Table } from './table.tsx';
import { toast } from './toast.tsx';

const PER_PAGE = 25;

export interface ResourceProps {
  /** Heading of the list for screen readers. */
  readonly title: string;
  /** Name of one object, for example "carrier". */
  readonly noun: string;
  /** Path of the list, with a trailing slash if the paths of objects have one. */
  readonly path: string;
  /** Member of the reply that has the rows. */
  readonly member: string;
  readonly idOf: (row: Row) => string;
  readonly nameOf: (row: Row) => string;
  readonly columns: readonly Column[];
  /** Fields of the form. Absent: objects cannot be created or edited here. */
  readonly fields?: readonly FieldSpec[];
  readonly editMethod?: 'POST' | 'PUT' | 'PATCH';
  readonly isEditable?: boolean;
  readonly need?: Need;
  readonly createNeed?: Need;
  /** Label of the button that creates an object. Default: Create and the noun. */
  readonly createLabel?: string;
  readonly deletes?: boolean;
  /** What a deletion does, for the confirmation. */
  readonly deleteDetail?: string;
  readonly emptyTitle: string;
  readonly emptyDetail?: ComponentChildren;
  readonly actionsOf?: (row: Row, again: () => void) => readonly Action[];
  /** Query parameter that searches the list. */
  readonly search?: string;
  readonly searchLabel?: string;
  /** How the service paginates the list. Default: `offset`. */
  readonly pages?: 'offset' | 'page' | 'size' | 'none';
  readonly query?: Readonly<Record<string, string>>;
  /** Called with the reply of a creation. */
  readonly created?: (reply: Row, body: Row) => void;
  /** Further parts of the page; a function receives the one that loads the list again. */
  readonly children?: ComponentChildren | ((again: () => void) => ComponentChildren);
  /** Further filters; their values are in `query`. */
  readonly filters?: ComponentChildren;
  /** Whether a further filter is set. */
  readonly isFiltered?: boolean;
  /** Next action of the empty list. Default: the button that creates an object. */
  readonly emptyAction?: ComponentChildren;
  /** Prepares the body of a request. */
  readonly prepare?: (body: Record<string, unknown>, row: Row | undefined) => object;
}

const totalOf = (reply: Row | undefined): number | undefined => {
  const found =
    reply?.['total'] ?? part(reply?.['meta'])['total_count'] ?? reply?.['count'] ?? undefined;
  return typeof found === 'number' ? found : undefined;
};

/** Returns the query of the list: page, search and further filters. */
function queryOf(props: ResourceProps, page: number, wanted: string): URLSearchParams {
  const { pages = 'offset', search } = props;
  const query = new URLSearchParams(props.query);
  if (pages === 'offset') {
    query.set('limit', String(PER_PAGE));
    query.set('offset', String((page - 1) * PER_PAGE));
  } else if (pages !== 'none') {
    query.set('page', String(page));
    query.set(pages === 'size' ? 'size' : 'per_page', String(PER_PAGE));
  }
  if (search !== undefined && wanted !== '') query.set(search, wanted);
  return query;
}

/** The rows of the page in the URL. */
function useList(props: ResourceProps) {
  const { fields: asked, setAll } = useQuery({ page: '1', q: '' });
  const wanted = useSettled(asked.q);
  const page = Math.max(1, Number(asked.page) || 1);
  const query = queryOf(props, page, wanted);
  const request = `${props.path}?${query}`;
  const found = useLoad(`${props.path} ${query}`, () => get(request));
  const list = found.value && rows(found.value[props.member]);
  // The only row of the last page was deleted.
  const isBeyond = page > 1 && list?.length === 0;
  useEffect(() => {
    if (!isBeyond) return;
    const total = totalOf(found.value) ?? (page - 1) * PER_PAGE;
    setAll({ page: String(Math.max(1, Math.ceil(total / PER_PAGE))) });
  }, [isBeyond]);
  const isSearched = wanted !== '' || props.isFiltered === true;
  return { asked, setAll, page, request, found, list, isSearched };
}

function pathOf({ path, idOf }: ResourceProps, row: Row): string {
  const slash = path.endsWith('/') ? '/' : '';
  return `${path.replace(/\/$/, '')}/${encodeURIComponent(idOf(row))}${slash}`;
}

/** Deletes an object after a confirmation, and loads the list again. */
function useRemoval(props: ResourceProps, again: () => void) {
  const { noun, nameOf } = props;
  const { problem, run } = useAction();
  const remove = async (row: Row) => {
    const isSure = await confirmed({
      title: t('Delete {name}?', { name: nameOf(row) }),
      detail: props.deleteDetail,
      action: t('Delete {noun}', { noun }),
    });
    if (!isSure) return;
    if (await run(() => call('DELETE', pathOf(props, row)))) toast(t('Deleted {noun}.', { noun }));
    again();
  };
  return { problem, remove };
}

export function Resource(props: ResourceProps) {
  const { title, noun, path, idOf, fields, need = 'change', pages = 'offset' } = props;
  const { asked, setAll, page, request, found, list, isSearched } = useList(props);
  const [open, setOpen] = useState<Open>();
  const { problem, remove } = useRemoval(props, found.again);
  const edit = (row: Row) => setOpen({ row });
  const create = fields !== undefined && may(props.createNeed ?? need) && (
    <button type="button" class="btn primary" onClick={() => setOpen({ row: undefined })}>
      {props.createLabel ?? t('Create {noun}', { noun })}
    </button>
  );
  return (
    <div class="stack">
      {list !== undefined && list.length > 0 && <HeadAction>{create}</HeadAction>}
      <Filters of={props} value={asked.q} set={(q) => setAll({ q, page: '1' })} />
      <LoadProblem of={found} />
      <Problem text={problem} />
      <Table
        name={title}
        rows={list}
        problem={found.problem}
        keyOf={idOf}
        empty={
          <Empty title={isSearched ? t('Nothing matches the search.') : props.emptyTitle}>
            {!isSearched && props.emptyDetail && <p>{props.emptyDetail}</p>}
            {!isSearched && (props.emptyAction ?? create)}
          </Empty>
        }
        columns={columnsOf(props, { edit, remove, again: found.again })}
      />
      {pages !== 'none' && (
        <Pager
          page={page}
          set={(next) => setAll({ page: String(next) })}
          perPage={PER_PAGE}
          shown={list?.length ?? 0}
          total={totalOf(found.value)}
        />
      )}
      {!path.startsWith('/console/') && <Snippets request={{ method: 'GET', path: request }} />}
      {fields !== undefined && (
        <ResourceEditor
          of={props}
          fields={fields}
          open={open}
          close={() => setOpen(undefined)}
          done={found.again}
        />
      )}
      {typeof props.children === 'function' ? props.children(found.again) : props.children}
    </div>
  );
}

interface FiltersProps {
  readonly of: ResourceProps;
  /** Text of the search. */
  readonly value: string;
  readonly set: (value: string) => void;
}

/** Search and further filters; nothing if the list has neither. */
const Filters = ({ of: { search, searchLabel, filters }, value, set }: FiltersProps) =>
  search === undefined && filters === undefined ? null : (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      {search !== undefined && (
        <Input label={searchLabel ?? t('Search')} type="search" value={value} set={set} />
      )}
      {filters}
    </form>
  );

interface RowActs {
  readonly edit: (row: Row) => void;
  readonly remove: (row: Row) => Promise<void>;
  readonly again: () => void;
}

/** Columns of the list, with the menu of each row. */
function columnsOf(props: ResourceProps, acts: RowActs): readonly Column[] {
  const { columns, fields, deletes = true, actionsOf, nameOf } = props;
  if (!deletes && fields === undefined && actionsOf === undefined) return [...columns];
  return [
    ...columns,
    {
      title: t('Actions'),
      isActions: true,
      value: (row) => <Actions of={rowActions(props, acts, row)} name={nameOf(row)} />,
    },
  ];
}

function rowActions(props: ResourceProps, acts: RowActs, row: Row): readonly Action[] {
  const { noun, fields, deletes = true, need = 'change' } = props;
  return [
    ...(fields !== undefined && props.isEditable !== false
      ? [{ label: t('Edit {noun}', { noun }), act: () => acts.edit(row), need }]
      : []),
    ...(props.actionsOf?.(row, acts.again) ?? []),
    ...(deletes
      ? [{ label: t('Delete {noun}', { noun }), act: () => acts.remove(row), isDanger: true, need }]
      : []),
  ];
}

/** The open form: `row` is undefined for a new object. */
interface Open {
  readonly row: Row | undefined;
}

interface ResourceEditorProps {
  readonly of: ResourceProps;
  readonly fields: readonly FieldSpec[];
  /** undefined while the form is closed. */
  readonly open: Open | undefined;
  readonly close: () => void;
  readonly done: () => void;
}

/** Form that creates or edits an object. */
function ResourceEditor({ of: props, fields, open, close, done }: ResourceEditorProps) {
  const { noun, path, editMethod = 'POST' } = props;
  return (
    <Editor
      isOpen={open !== undefined}
      close={close}
      row={open?.row}
      fields={fields}
      noun={noun}
      request={(row) => ({
        method: row === undefined ? 'POST' : editMethod,
        path: row === undefined ? path : pathOf(props, row),
      })}
      prepare={props.prepare}
      save={async (body, row) => {
        if (row !== undefined) return call(editMethod, pathOf(props, row), body);
        const reply = await call('POST', path, body);
        props.created?.(reply, body as Row);
        return reply;
      }}
      done={done}
    />
  );
}
