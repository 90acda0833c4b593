import { useState } from 'preact/hooks';
import { number, type Row, text } from '../api.ts';
import { firstSentence } from '../format.ts';
import { useSettledFields } from '../hooks.ts';
import { useQuery } from '../place.ts';
import { t } from '../text.ts';
import { Input } from '../ui/form.tsx';
import { Drawer } from '../ui/overlay.tsx';
import { At, Badge, CopyText, Facts, Head } from '../ui/parts.tsx';
import { Resource } from '../ui/resource.tsx';

const EMPTY = { page: '1', who: '', what: '', from: '', to: '' };

const changeOf = (row: Row): string => firstSentence(row['what']);

/** Changes by users and tokens, newest first. */
export function Audit() {
  const { fields, setAll } = useQuery(EMPTY);
  const { page: _page, ...asked } = useSettledFields(fields);
  const [open, setOpen] = useState<Row>();
  const set = (name: keyof typeof EMPTY) => (value: string) => setAll({ [name]: value, page: '1' });
  const used = Object.entries(asked).flatMap(([name, value]) =>
    value.trim() === '' ? [] : [[name, value.trim()] as const],
  );
  return (
    <>
      <Head
        title={t('Audit log')}
        about={t('Every change: who made it, when, from where, and its result.')}
      />
      <Resource
        title={t('Audit log')}
        noun={t('entry')}
        path="/console/api/audit"
        member="entries"
        deletes={false}
        query={Object.fromEntries(used)}
        isFiltered={used.length > 0}
        idOf={(row) => `${text(row['at'])} ${text(row['path'])}`}
        nameOf={changeOf}
        emptyTitle={t('No changes yet.')}
        filters={
          <>
            <Input label={t('User')} type="search" value={fields.who} set={set('who')} />
            <Input
              label={t('Change or path')}
              type="search"
              value={fields.what}
              set={set('what')}
              wider
            />
            <Input label={t('From date')} type="date" value={fields.from} set={set('from')} />
            <Input label={t('To date')} type="date" value={fields.to} set={set('to')} />
          </>
        }
        columns={[
          {
            title: t('Time'),
            value: (row) => (
              <button type="button" class="btn quiet tiny" onClick={() => setOpen(row)}>
                <At value={row['at']} />
              </button>
            ),
            sort: (row) => text(row['at']),
          },
          { title: t('User'), value: (row) => text(row['who']), sort: (row) => text(row['who']) },
          { title: t('Change'), value: changeOf, sort: changeOf },
          { title: t('Details'), value: (row) => text(row['detail']), isMinor: true },
          {
            title: t('Status'),
            value: (row) => (
              <Badge tone={number(row['status']) < 400 ? 'good' : 'bad'}>
                {text(row['status'])}
              </Badge>
            ),
            sort: (row) => number(row['status']),
            isNumber: true,
          },
        ]}
      />
      <Drawer
        title={text(open?.['what'])}
        isOpen={open !== undefined}
        close={() => setOpen(undefined)}
      >
        <div class="body">
          {open && (
            <Facts
              of={[
                [t('Time'), <At key="at" value={open['at']} />],
                [t('User'), text(open['who'])],
                [t('Details'), text(open['detail'])],
                [
                  t('Request'),
                  <CopyText key="path" value={`${text(open['method'])} ${text(open['path'])}`} />,
                ],
                [t('Status'), text(open['status'])],
                [t('Address'), text(open['address'])],
              ]}
            />
          )}
        </div>
      </Drawer>
    </>
  );
}
