/** Page of one kind of object: list with pages, create, edit and delete. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
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

export function Resource(props: ResourceProps) {
  const { title, noun, path, member, idOf, nameOf, fields, need = 'change' } = props;
  const { editMethod = 'POST', deletes = true, pages = 'offset', search } = props;
  const { fields: asked, setAll } = useQuery({ page: '1', q: '' });
  const wanted = useSettled(asked.q);
  const page = Math.max(1, Number(asked.page) || 1);
  const query = new URLSearchParams(props.query);
  if (pages === 'offset') {
    query.set('limit', String(PER_PAGE));
    query.set('offset', String((page - 1) * PER_PAGE));
  } else if (pages !== 'none') {
    query.set('page', String(page));
    query.set(pages === 'size' ? 'size' : 'per_page', String(PER_PAGE));
  }
  if (search !== undefined && wanted !== '') query.set(search, wanted);
  const found = useLoad(`${path} ${query}`, () => get(`${path}?${query}`));
  const [open, setOpen] = useState<{ readonly row: Row | undefined }>();
  const { problem, run } = useAction();
  const list = found.value && rows(found.value[member]);
  const slash = path.endsWith('/') ? '/' : '';
  const pathOf = (row: Row) =>
    `${path.replace(/\/$/, '')}/${encodeURIComponent(idOf(row))}${slash}`;
  const remove = async (row: Row) => {
    const isSure = await confirmed({
      title: t('Delete {name}?', { name: nameOf(row) }),
      detail: props.deleteDetail,
      action: t('Delete {noun}', { noun }),
    });
    if (!isSure) return;
    if (await run(() => call('DELETE', pathOf(row)))) toast(t('Deleted {noun}.', { noun }));
    found.again();
  };
  const actions = (row: Row): readonly Action[] => [
    ...(fields !== undefined && props.isEditable !== false
      ? [{ label: t('Edit {noun}', { noun }), act: () => setOpen({ row }), need }]
      : []),
    ...(props.actionsOf?.(row, found.again) ?? []),
    ...(deletes
      ? [{ label: t('Delete {noun}', { noun }), act: () => remove(row), isDanger: true, need }]
      : []),
  ];
  const create = fields !== undefined && may(props.createNeed ?? need) && (
    <button type="button" class="btn primary" onClick={() => setOpen({ row: undefined })}>
      {props.createLabel ?? t('Create {noun}', { noun })}
    </button>
  );
  const isSearched = wanted !== '' || props.isFiltered === true;
  const hasActions = deletes || fields !== undefined || props.actionsOf !== undefined;
  return (
    <div class="stack">
      {list !== undefined && list.length > 0 && <HeadAction>{create}</HeadAction>}
      {(search !== undefined || props.filters !== undefined) && (
        <form class="filters" onSubmit={(event) => event.preventDefault()}>
          {search !== undefined && (
            <Input
              label={props.searchLabel ?? t('Search')}
              type="search"
              value={asked.q}
              set={(q) => setAll({ q, page: '1' })}
            />
          )}
          {props.filters}
        </form>
      )}
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
        columns={[
          ...props.columns,
          ...(hasActions
            ? [
                {
                  title: t('Actions'),
                  isActions: true,
                  value: (row: Row) => <Actions of={actions(row)} name={nameOf(row)} />,
                },
              ]
            : []),
        ]}
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
      {!path.startsWith('/console/') && (
        <Snippets request={{ method: 'GET', path: `${path}?${query}` }} />
      )}
      {fields !== undefined && (
        <Editor
          isOpen={open !== undefined}
          close={() => setOpen(undefined)}
          row={open?.row}
          fields={fields}
          noun={noun}
          request={(row) => ({
            method: row === undefined ? 'POST' : editMethod,
            path: row === undefined ? path : pathOf(row),
          })}
          prepare={props.prepare}
          save={async (body, row) => {
            if (row !== undefined) return call(editMethod, pathOf(row), body);
            const reply = await call('POST', path, body);
            props.created?.(reply, body as Row);
            return reply;
          }}
          done={found.again}
        />
      )}
      {typeof props.children === 'function' ? props.children(found.again) : props.children}
    </div>
  );
}
