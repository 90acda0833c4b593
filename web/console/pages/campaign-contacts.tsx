/** Contacts of a campaign with their attempts, and all calls of a campaign. */
import { useState } from 'preact/hooks';
import { get, number, part, type Row, rows, text } from '../api.ts';
import { clock, count, words } from '../format.ts';
import { useLoad, useSettled } from '../hooks.ts';
import { href, useQuery } from '../place.ts';
import { t } from '../text.ts';
import { numberColumn, textColumn } from '../ui/columns.tsx';
import { Input, Save, Select } from '../ui/form.tsx';
import { Drawer } from '../ui/overlay.tsx';
import { At, Badge, Facts, LoadProblem, type Tone } from '../ui/parts.tsx';
import { type Column, PagedTable, Table } from '../ui/table.tsx';
import { doneOf } from './campaign-parts.tsx';

const PER_PAGE = 50;
/** Maximum number of calls of a campaign in which the page searches those of a contact. */
const SEARCH_MAX = 10_000;

const TONES: Readonly<Record<string, Tone>> = {
  answered: 'good',
  dialling: 'info',
  retry_pending: 'info',
  busy: 'fair',
  no_answer: 'fair',
  failed: 'bad',
  expired: 'bad',
};

const Status = ({ value }: { readonly value: unknown }) => (
  <Badge tone={TONES[text(value)] ?? 'none'}>{words(value)}</Badge>
);

const STATUSES = [
  'pending',
  'dialling',
  'answered',
  'no_answer',
  'busy',
  'failed',
  'retry_pending',
  'expired',
] as const;

/** Returns the latest value that was not undefined, so that a list stays visible while its next page loads. */
function useKept<T>(value: T | undefined): T | undefined {
  const [kept, setKept] = useState<T>();
  if (value !== undefined && value !== kept) setKept(value);
  return value ?? kept;
}

/** Contacts that match the filters of the URL. */
function useContacts(path: string, row: Row) {
  const { fields, setAll } = useQuery({ part: 'contacts', status: '', q: '', page: '1' });
  const search = useSettled(fields.q);
  const query = new URLSearchParams({
    limit: String(PER_PAGE),
    offset: String((Number(fields.page) - 1) * PER_PAGE),
    ...(fields.status !== '' && { status: fields.status }),
    ...(search !== '' && { search }),
  });
  // The counters change with every call of the campaign.
  const tick = `${doneOf(row)} ${number(row['dialling'])} ${number(row['total_contacts'])}`;
  const found = useLoad(`${path} ${query} ${tick}`, () => get(`${path}/contacts?${query}`));
  return { fields, setAll, found, reply: useKept(found.value) };
}

export function Contacts({ path, row }: { readonly path: string; readonly row: Row }) {
  const { fields, setAll, found, reply } = useContacts(path, row);
  const [open, setOpen] = useState<Row>();
  const isFiltered = fields.q !== '' || fields.status !== '';
  return (
    <section class="stack">
      <div class="row between">
        <ContactFilters fields={fields} change={(changes) => setAll({ ...changes, page: '1' })} />
        <Save path={`${path}/upload/errors`} name="errors.csv">
          {t('Export invalid rows')}
        </Save>
      </div>
      <PagedTable
        name={t('Contacts')}
        rows={reply && rows(reply['objects'])}
        found={found}
        empty={
          isFiltered ? t('No contact matches.') : t('No contacts yet. Upload a list of contacts.')
        }
        columns={contactColumns(setOpen)}
        pager={{
          page: Number(fields.page),
          set: (page) => setAll({ page: String(page) }),
          perPage: PER_PAGE,
          total: number(reply?.['total']),
        }}
      />
      <Drawer
        title={text(open?.['to_number'])}
        isOpen={open !== undefined}
        close={() => setOpen(undefined)}
        isWide
      >
        <div class="body">{open && <ContactDetail path={path} contact={open} />}</div>
      </Drawer>
    </section>
  );
}

interface FilterFields {
  readonly q: string;
  readonly status: string;
}

interface FiltersProps {
  readonly fields: FilterFields;
  readonly change: (changes: Partial<FilterFields>) => void;
}

const ContactFilters = ({ fields, change }: FiltersProps) => (
  <div class="filters grow">
    <Input
      label={t('Part of the number')}
      type="search"
      value={fields.q}
      set={(q) => change({ q })}
    />
    <Select
      label={t('Status')}
      value={fields.status}
      set={(status) => change({ status })}
      options={[['', t('Any')], ...STATUSES.map((one) => [one, words(one)] as const)]}
    />
  </div>
);

const contactColumns = (open: (contact: Row) => void): readonly Column[] => [
  numberColumn(t('Row'), 'row_number', { value: (one) => text(one['row_number']), isMinor: true }),
  textColumn(t('Number'), 'to_number', {
    value: (one) => (
      <button type="button" class="btn quiet tiny" onClick={() => open(one)}>
        {text(one['to_number'])}
      </button>
    ),
  }),
  STATUS_COLUMN,
  { title: t('Reason'), value: (one) => words(one['reason']), isMinor: true },
  numberColumn(t('Attempts'), 'attempts', { value: (one) => text(one['attempts']) }),
  {
    title: t('Next attempt'),
    value: (one) => <At value={one['next_attempt_at']} />,
    isMinor: true,
  },
  { title: t('Time zone'), value: (one) => text(one['timezone']), isMinor: true },
];

const STATUS_COLUMN = textColumn(t('Status'), 'status', {
  value: (one) => <Status value={one['status']} />,
});

/** Attempts of one contact. The service lists the attempts of a campaign, latest first. */
function ContactDetail({ path, contact }: { readonly path: string; readonly contact: Row }) {
  const found = useLoad(`${path} ${text(contact['id'])}`, async () => {
    const wanted = number(contact['attempts']);
    const own: Row[] = [];
    for (let page = 1; page <= SEARCH_MAX / 200 && own.length < wanted; page += 1) {
      const reply = await get(`${path}/calls?per_page=200&page=${page}`);
      own.push(...rows(reply['objects']).filter((one) => one['contact_id'] === contact['id']));
      if (page >= number(reply['total_pages'])) break;
    }
    return own;
  });
  const headers = Object.entries(part(contact['sip_headers']));
  return (
    <>
      <Facts
        of={[
          [t('Status'), <Status key="status" value={contact['status']} />],
          [t('Reason'), words(contact['reason'])],
          [t('Row of the list'), text(contact['row_number'])],
          [t('Caller ID'), text(contact['from_number'])],
          [t('Answer URL'), text(contact['answer_url'])],
          [
            t('First call'),
            contact['first_dial_at'] == null ? (
              ''
            ) : (
              <At key="first" value={contact['first_dial_at']} />
            ),
          ],
          [
            t('Next attempt'),
            contact['next_attempt_at'] == null ? (
              ''
            ) : (
              <At key="next" value={contact['next_attempt_at']} />
            ),
          ],
          ...headers.map(([name, value]) => [`X-${name}`, text(value)] as const),
        ]}
      />
      <h3>{t('Attempts')}</h3>
      <LoadProblem of={found} />
      {found.value !== undefined && found.value.length < number(contact['attempts']) && (
        <p class="callout">
          {t('Some attempts are not among the latest {n} calls of the campaign.', {
            n: count(SEARCH_MAX),
          })}
        </p>
      )}
      <Table
        name={t('Attempts')}
        rows={found.value}
        problem={found.problem}
        keyOf={(one) => text(one['call_uuid'])}
        empty={number(contact['attempts']) > 0 ? '' : t('The contact was not called yet.')}
        columns={ATTEMPTS}
      />
    </>
  );
}

const ATTEMPTS: readonly Column[] = [
  textColumn(t('Time'), 'placed_at', {
    value: (row) => (
      <a href={href(`calls/${text(row['call_uuid'])}`)}>
        <At value={row['placed_at']} />
      </a>
    ),
  }),
  { title: t('Number'), value: (row) => text(row['to_number']) },
  { title: t('Caller ID'), value: (row) => text(row['from_number']), isMinor: true },
  STATUS_COLUMN,
  {
    title: t('Attempt'),
    value: (row) => text(row['attempt_number']),
    isNumber: true,
    isMinor: true,
  },
  numberColumn(t('Answered time'), 'duration', { value: (row) => clock(number(row['duration'])) }),
  { title: t('Cause'), value: (row) => words(row['hangup_cause']), isMinor: true },
];

/** All calls of the campaign, latest first. */
export function Attempts({ path, tick }: { readonly path: string; readonly tick: string }) {
  const { fields, setAll } = useQuery({ part: 'contacts', page: '1' });
  const page = Number(fields.page);
  const found = useLoad(`${path} ${page} ${tick}`, () =>
    get(`${path}/calls?per_page=${PER_PAGE}&page=${page}`),
  );
  const reply = useKept(found.value);
  return (
    <section class="stack">
      <PagedTable
        name={t('Calls of the campaign')}
        rows={reply && rows(reply['objects'])}
        found={found}
        empty={t('No calls yet.')}
        columns={ATTEMPTS}
        pager={{
          page,
          set: (next) => setAll({ page: String(next) }),
          perPage: PER_PAGE,
          total: number(reply?.['total']),
        }}
      />
    </section>
  );
}
