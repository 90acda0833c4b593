/** Caller numbers of a campaign and their use. */
import { number, type Row, text } from '../api.ts';
import { count } from '../format.ts';
import { t } from '../text.ts';
import { Ago, Portions } from '../ui/parts.tsx';
import { Resource } from '../ui/resource.tsx';

export function Pool({ path, row }: { readonly path: string; readonly row: Row }) {
  const limit = row['pool_max_calls_per_number'];
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
        fields={[
          {
            name: 'from_number',
            label: t('Number'),
            hint: t('A number of the account or a verified caller ID'),
            required: true,
          },
          { name: 'label', label: t('Label') },
        ]}
        prepare={(body, edited) => (edited === undefined ? { numbers: [body] } : body)}
        emptyTitle={t('The pool has no numbers.')}
        emptyDetail={t('Add numbers to spread calls over several caller IDs.')}
        columns={[
          {
            title: t('Number'),
            value: (one) => text(one['from_number']),
            sort: (one) => text(one['from_number']),
          },
          { title: t('Label'), value: (one) => text(one['label']), isMinor: true },
          {
            title: t('Calls'),
            value: (one) => count(one['total_calls']),
            sort: (one) => number(one['total_calls']),
            isNumber: true,
          },
          {
            title: t('Use of the limit'),
            value: (one) =>
              typeof limit === 'number' ? (
                <Portions
                  total={limit}
                  of={[
                    {
                      name: t('Calls'),
                      value: Math.min(limit, number(one['total_calls'])),
                      tone: number(one['total_calls']) >= limit ? 'bad' : 'info',
                    },
                  ]}
                />
              ) : (
                <span class="muted">{t('No limit')}</span>
              ),
          },
          {
            title: t('Last used'),
            value: (one) => <Ago value={one['last_used_at']} />,
            sort: (one) => text(one['last_used_at']),
          },
        ]}
      />
    </>
  );
}
