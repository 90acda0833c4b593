import { useState } from 'preact/hooks';
import { get, number, type Row, rows, text } from '../api.ts';
import { count } from '../format.ts';
import { useLoad, useSettled } from '../hooks.ts';
import { useQuery } from '../place.ts';
import { t } from '../text.ts';
import { Input } from '../ui/form.tsx';
import { Drawer } from '../ui/overlay.tsx';
import { At, Badge, CopyText, Facts, Head, LoadProblem } from '../ui/parts.tsx';
import { Pager, Table } from '../ui/table.tsx';

const PER_PAGE = 50;

/** Changes by users and tokens, newest first. */
export function Audit() {
  const { fields, setAll } = useQuery({ page: '1', who: '', what: '', from: '', to: '' });
  const asked = JSON.parse(useSettled(JSON.stringify(fields))) as typeof fields;
  const page = Number(asked.page);
  const query = new URLSearchParams({
    limit: String(PER_PAGE),
    offset: String((page - 1) * PER_PAGE),
  });
  for (const name of ['who', 'what', 'from', 'to'] as const) {
    if (asked[name].trim() !== '') query.set(name, asked[name].trim());
  }
  const found = useLoad(`${query}`, () => get(`/console/api/audit?${query}`));
  const [open, setOpen] = useState<Row>();
  const list = found.value && rows(found.value['entries']);
  const set = (name: keyof typeof fields) => (value: string) =>
    setAll({ [name]: value, page: '1' });
  return (
    <>
      <Head
        title={t('Audit log')}
        about={t('Every change: who made it, when, from where, and its result.')}
      />
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
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
      </form>
      <LoadProblem of={found} />
      <Table
        name={t('Audit log')}
        rows={list}
        problem={found.problem}
        empty={t('No change matches.')}
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
          {
            title: t('Change'),
            value: (row) => text(row['what']),
            sort: (row) => text(row['what']),
          },
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
      <Pager
        page={Number(fields.page)}
        set={(next) => setAll({ page: String(next) })}
        perPage={PER_PAGE}
        shown={list?.length ?? 0}
        total={number(found.value?.['total'])}
      />
      <p class="small muted">{t('{n} entries', { n: count(found.value?.['total']) })}</p>
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
