/** Caller numbers of a campaign and their use. */
import { number, type Row, text } from '../api.ts';
import { t } from '../text.ts';
import { numberColumn, textColumn } from '../ui/columns.tsx';
import type { FieldSpec } from '../ui/editor.tsx';
import { Ago, Portions } from '../ui/parts.tsx';
import { Resource } from '../ui/resource.tsx';
import type { Column } from '../ui/table.tsx';

const FIELDS: readonly FieldSpec[] = [
  {
    name: 'from_number',
    label: t('Number'),
    hint: t('A number of the account or a verified caller ID'),
    required: true,
  },
  { name: 'label', label: t('Label') },
];

/** `limit` is the maximum of calls of each number; it is not a number if there is no limit. */
const columnsOf = (limit: unknown): readonly Column[] => [
  textColumn(t('Number'), 'from_number'),
  { title: t('Label'), value: (one) => text(one['label']), isMinor: true },
  numberColumn(t('Calls'), 'total_calls'),
  {
    title: t('Use of the limit'),
    value: (one) =>
      typeof limit === 'number' ? (
        <Use calls={number(one['total_calls'])} limit={limit} />
      ) : (
        <span class="muted">{t('No limit')}</span>
      ),
  },
  textColumn(t('Last used'), 'last_used_at', {
    value: (one) => <Ago value={one['last_used_at']} />,
  }),
];

const Use = ({ calls, limit }: { readonly calls: number; readonly limit: number }) => (
  <Portions
    total={limit}
    of={[
      { name: t('Calls'), value: Math.min(limit, calls), tone: calls >= limit ? 'bad' : 'info' },
    ]}
  />
);

export function Pool({ path, row }: { readonly path: string; readonly row: Row }) {
  const isPool = row['caller_id_strategy'] === 'pool';
  return (
    <>
      {!isPool && (
        <div class="callout">
          {t(
            'This campaign uses another caller ID. The pool has an effect only with the caller ID “Pool of numbers”.',
          )}
        </div>
      )}
      <Resource
        title={t('Caller numbers')}
        noun={t('caller number')}
        path={`${path}/pool`}
        member="objects"
        pages="none"
        idOf={(one) => text(one['id'])}
        nameOf={(one) => text(one['from_number'])}
        editMethod="PUT"
        fields={FIELDS}
        prepare={(body, edited) => (edited === undefined ? { numbers: [body] } : body)}
        emptyTitle={t('The pool has no numbers.')}
        emptyDetail={t('Add numbers to spread calls over several caller IDs.')}
        columns={columnsOf(row['pool_max_calls_per_number'])}
      />
    </>
  );
}
