import { useState } from 'preact/hooks';
import { number, type Row, text } from '../api.ts';
import { firstSentence, secondOf } from '../format.ts';
import { useSettledFields } from '../hooks.ts';
import { useQuery } from '../place.ts';
import { t } from '../text.ts';
import { numberColumn, textColumn } from '../ui/columns.tsx';
import { Input } from '../ui/form.tsx';
import { Drawer } from '../ui/overlay.tsx';
import { At, Badge, CopyText, Facts, Head } from '../ui/parts.tsx';
import { Resource } from '../ui/resource.tsx';
import type { Column } from '../ui/table.tsx';

const EMPTY = { page: '1', who: '', what: '', from: '', to: '' };

const changeOf = (row: Row): string => firstSentence(row['what']);

/** Changes by users and tokens, newest first. */
export function Audit() {
  const { fields, setAll } = useQuery(EMPTY);
  const { page: _page, ...asked } = useSettledFields(fields);
  const [open, setOpen] = useState<Row>();
  const wanted = {
    ...asked,
    from: secondOf(asked.from, 'first'),
    to: secondOf(asked.to, 'last'),
  };
  const used = Object.entries(wanted).flatMap(([name, value]) =>
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
          <AuditFilters fields={fields} change={(changes) => setAll({ ...changes, page: '1' })} />
        }
        columns={columnsOf(setOpen)}
      />
      <EntryDrawer entry={open} close={() => setOpen(undefined)} />
    </>
  );
}

interface FiltersProps {
  readonly fields: Readonly<typeof EMPTY>;
  readonly change: (changes: Partial<typeof EMPTY>) => void;
}

function AuditFilters({ fields, change }: FiltersProps) {
  const set = (name: keyof typeof EMPTY) => (value: string) => change({ [name]: value });
  return (
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
  );
}

const columnsOf = (open: (row: Row) => void): readonly Column[] => [
  textColumn(t('Time'), 'at', {
    value: (row) => (
      <button type="button" class="btn quiet tiny" onClick={() => open(row)}>
        <At value={row['at']} />
      </button>
    ),
  }),
  textColumn(t('User'), 'who'),
  { title: t('Change'), value: changeOf, sort: changeOf },
  { title: t('Details'), value: (row) => text(row['detail']), isMinor: true },
  numberColumn(t('Status'), 'status', {
    value: ({ status }) => (
      <Badge tone={number(status) < 400 ? 'good' : 'bad'}>{text(status)}</Badge>
    ),
  }),
];

interface DrawerProps {
  /** The entry to show; undefined closes the drawer. */
  readonly entry: Row | undefined;
  readonly close: () => void;
}

const EntryDrawer = ({ entry, close }: DrawerProps) => (
  <Drawer title={text(entry?.['what'])} isOpen={entry !== undefined} close={close}>
    <div class="body">
      {entry && (
        <Facts
          of={[
            [t('Time'), <At key="at" value={entry['at']} />],
            [t('User'), text(entry['who'])],
            [t('Details'), text(entry['detail'])],
            [
              t('Request'),
              <CopyText key="path" value={`${text(entry['method'])} ${text(entry['path'])}`} />,
            ],
            [t('Status'), text(entry['status'])],
            [t('Address'), text(entry['address'])],
          ]}
        />
      )}
    </div>
  </Drawer>
);
