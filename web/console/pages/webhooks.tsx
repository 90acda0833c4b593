import { useState } from 'preact/hooks';
import { call, get, number, type Row, rows } from '../api.ts';
import { count, percent } from '../format.ts';
import { useAction, useFields, useLoad, useSettled } from '../hooks.ts';
import { may } from '../may.ts';
import type { PageProps } from '../page-props.ts';
import { useQuery } from '../place.ts';
import { t } from '../text.ts';
import { Input, Select } from '../ui/form.tsx';
import { FormDrawer } from '../ui/overlay.tsx';
import { Empty, Head, LoadProblem, Tiles } from '../ui/parts.tsx';
import { Snippets } from '../ui/snippets.tsx';
import { Table } from '../ui/table.tsx';
import { DeliveryDrawer, deliveryColumns } from './deliveries.tsx';

const PER_PAGE = 50;
const EVERY_MS = 5000;

/** Deliveries that match the filters of the URL. */
function useDeliveries(account: string) {
  const { fields, setAll } = useQuery({ outcome: '', event: '', q: '', offset: '0' });
  const settled = useSettled(JSON.stringify(fields));
  const asked = JSON.parse(settled) as typeof fields;
  const query = new URLSearchParams({ limit: String(PER_PAGE), offset: asked.offset });
  if (asked.outcome !== '') query.set('outcome', asked.outcome);
  if (asked.event !== '') query.set('event', asked.event);
  if (asked.q.trim() !== '') query.set('search', asked.q.trim());
  const path = `/api/v1/Account/${account}/webhooks`;
  const found = useLoad(`${account} ${query}`, () => get(`${path}?${query}`), EVERY_MS);
  return { fields, setAll, found, request: `${path}?${query}` };
}

/** Requests of the service to the URLs of the account. */
export function Webhooks({ account }: PageProps) {
  const { fields, setAll, found, request } = useDeliveries(account);
  const [open, setOpen] = useState<Row>();
  const list = found.value && rows(found.value['objects']);
  const isFiltered = fields.outcome !== '' || fields.event !== '' || fields.q !== '';
  return (
    <>
      <Head
        title={t('Webhooks')}
        about={t(
          'Requests of the service to your URLs: answer documents, events and notifications. The latest 500 are kept for 7 days.',
        )}
      >
        {may('change') && <TestWebhook account={account} again={found.again} open={setOpen} />}
      </Head>
      <LoadProblem of={found} />
      <Summary of={(found.value?.['summary'] ?? {}) as Row} />
      <Filters fields={fields} change={(changes) => setAll({ ...changes, offset: '0' })} />
      <Table
        name={t('Deliveries')}
        rows={list}
        problem={found.problem}
        empty={
          <Empty title={isFiltered ? t('No delivery matches.') : t('No deliveries yet.')}>
            <p>{t('A delivery appears when a call requests a document or an event is sent.')}</p>
          </Empty>
        }
        columns={deliveryColumns(setOpen)}
      />
      <Pages
        offset={Number(fields.offset)}
        total={number(found.value?.['total'])}
        set={(offset) => setAll({ offset: String(offset) })}
      />
      <Snippets request={{ method: 'GET', path: request }} />
      <DeliveryDrawer
        account={account}
        row={open}
        close={() => setOpen(undefined)}
        again={found.again}
      />
    </>
  );
}

/** Counts and latency of the deliveries. */
function Summary({ of: summary }: { readonly of: Row }) {
  const sent = number(summary['deliveries']);
  return (
    <Tiles
      of={[
        { name: t('Deliveries'), value: count(sent) },
        {
          name: t('Failed'),
          value: count(summary['failed']),
          note: sent === 0 ? undefined : percent(number(summary['failed']) / sent),
        },
        { name: t('Median latency'), value: `${count(summary['median_ms'])} ms` },
        { name: t('95 % within'), value: `${count(summary['p95_ms'])} ms` },
        {
          name: t('Waiting notifications'),
          value: count(summary['pending']),
          note: t('retried until they are acknowledged'),
        },
      ]}
    />
  );
}

interface FilterFields {
  readonly outcome: string;
  readonly event: string;
  readonly q: string;
}

interface FiltersProps {
  readonly fields: FilterFields;
  readonly change: (changes: Partial<FilterFields>) => void;
}

const Filters = ({ fields, change }: FiltersProps) => (
  <form class="filters" onSubmit={(event) => event.preventDefault()}>
    <Input
      label={t('Search')}
      placeholder={t('URL or call UUID')}
      type="search"
      value={fields.q}
      set={(q) => change({ q })}
      wider
    />
    <Select
      label={t('Outcome')}
      value={fields.outcome}
      set={(outcome) => change({ outcome })}
      options={[
        ['', t('Any')],
        ['failed', t('Failed')],
        ['delivered', t('Delivered')],
      ]}
    />
    <Input label={t('Event')} value={fields.event} set={(event) => change({ event })} />
  </form>
);

interface PagesProps {
  /** Number of newer deliveries before this page. */
  readonly offset: number;
  readonly total: number;
  readonly set: (offset: number) => void;
}

const Pages = ({ offset, total, set }: PagesProps) => (
  <nav class="pager" aria-label={t('Pagination')}>
    <span>{t('{n} deliveries', { n: count(total) })}</span>
    <span class="row">
      <button
        type="button"
        class="btn"
        disabled={offset === 0}
        onClick={() => set(Math.max(0, offset - PER_PAGE))}
      >
        {t('Newer')}
      </button>
      <button
        type="button"
        class="btn"
        disabled={offset + PER_PAGE >= total}
        onClick={() => set(offset + PER_PAGE)}
      >
        {t('Older')}
      </button>
    </span>
  </nav>
);

interface TestProps {
  readonly account: string;
  readonly again: () => void;
  readonly open: (row: Row) => void;
}

/** Sends a signed test request. */
function TestWebhook({ account, again, open }: TestProps) {
  const [isOpen, setOpen] = useState(false);
  const { fields, set } = useFields({ url: '', method: 'POST' });
  const { problem, fields: problems, isBusy, run } = useAction();
  const test = () =>
    run(async () => {
      const sent = await call('POST', `/api/v1/Account/${account}/webhooks/test`, fields);
      setOpen(false);
      again();
      open(sent);
    });
  return (
    <>
      <button type="button" class="btn primary" onClick={() => setOpen(true)}>
        {t('Test webhook')}
      </button>
      <FormDrawer
        title={t('Test webhook')}
        isOpen={isOpen}
        close={() => setOpen(false)}
        submit={t('Send test')}
        problem={problem}
        isBusy={isBusy}
        act={() => void test()}
      >
        <p>
          {t(
            'The service sends a signed request with the parameters of a call, and shows the answer.',
          )}
        </p>
        <Input
          label={t('URL')}
          type="url"
          value={fields.url}
          set={set('url')}
          problem={problems['url']}
          required
        />
        <Select
          label={t('Method')}
          value={fields.method}
          set={set('method')}
          options={[
            ['POST', 'POST'],
            ['GET', 'GET'],
          ]}
        />
      </FormDrawer>
    </>
  );
}
