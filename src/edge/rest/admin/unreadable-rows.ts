/** Routes for database rows that could not be read. */
import { err, ok } from '../../../base/result.ts';
import { isoMicros } from '../../../base/time-format.ts';
import { notFound } from '../http/failure.ts';
import { adminRoute, type Route } from '../http/route.ts';
import { sliceQuery, Type, timestamp } from '../http/schema.ts';
import { sliceOf } from '../wire/list.ts';

const ROOT = '/admin/v1/unreadable-rows';
const common = { tag: 'Operator: service', errors: 'admin' } as const;

const list = adminRoute({
  ...common,
  method: 'GET',
  path: ROOT,
  summary: 'List database rows that could not be read and are skipped, latest first',
  query: Type.Object(sliceQuery),
  reply: Type.Object({
    total: Type.Integer(),
    rows: Type.Array(
      Type.Object({
        table: Type.String(),
        key: Type.String(),
        reason: Type.String(),
        original: Type.String({ description: 'JSON of the stored columns' }),
        found: timestamp(),
      }),
    ),
  }),
  async run({ operations }, { query }) {
    const { items, total } = await operations.unreadableRows(sliceOf(query));
    return ok({
      total,
      rows: items.map(({ foundUs, ...row }) => ({ ...row, found: isoMicros(foundUs) })),
    });
  },
});

const remove = adminRoute({
  ...common,
  method: 'DELETE',
  path: `${ROOT}/{table}/{key}`,
  summary:
    'Remove a row from the list. The row itself stays in its table, except for an open call: it is removed and its reservations are released',
  status: 204,
  params: Type.Object({
    table: Type.String({ minLength: 1, maxLength: 64 }),
    key: Type.String({ minLength: 1, maxLength: 512 }),
  }),
  run: async ({ operations }, { params: { table, key } }) =>
    (await operations.removeUnreadableRow(table, key)) ? ok(undefined) : err(notFound('row')),
});

export const unreadableRowRoutes: readonly Route[] = [list, remove];
