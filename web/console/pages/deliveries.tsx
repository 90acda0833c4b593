/** Requests of the service to the customer's URLs: list, details and replay. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { allOf, call, get, part, type Row, text } from '../api.ts';
import { useAction, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import { href } from '../place.ts';
import { t } from '../text.ts';
import { Code, type Language } from '../ui/code.tsx';
import { confirmed, Drawer } from '../ui/overlay.tsx';
import { At, Badge, CopyText, Facts, LoadProblem, Problem, Skeleton } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';

const isSuccess = (status: unknown): status is number =>
  typeof status === 'number' && status >= 200 && status < 300;

const StatusOf = ({ row }: { readonly row: Row }) => {
  const { status, error } = row;
  return (
    <Badge tone={isSuccess(status) ? 'good' : 'bad'}>
      {typeof status === 'number' ? status : text(error) || t('No answer')}
    </Badge>
  );
};

export const deliveryColumns = (open: (row: Row) => void): readonly Column[] => [
  {
    title: t('Time'),
    value: (row) => (
      <button type="button" class="btn quiet tiny" onClick={() => open(row)}>
        <At value={row['at']} />
      </button>
    ),
    sort: (row) => text(row['at']),
  },
  { title: t('Event'), value: (row) => text(row['event']), sort: (row) => text(row['event']) },
  { title: t('URL'), value: (row) => <code>{`${text(row['method'])} ${text(row['url'])}`}</code> },
  {
    title: t('Status'),
    value: (row) => <StatusOf row={row} />,
    sort: (row) => Number(row['status'] ?? 0),
  },
  {
    title: t('Latency'),
    value: (row) => `${Math.round(Number(row['duration_ms']))} ms`,
    sort: (row) => Number(row['duration_ms']),
    isNumber: true,
    isMinor: true,
  },
];

interface Props {
  readonly account: string;
  readonly callUuid: string;
  /** Timeline of the call, used when the deliveries are no longer stored. */
  readonly entries: readonly Row[];
}

/** Callbacks of one call. */
export function Deliveries({ account, callUuid, entries }: Props) {
  const [open, setOpen] = useState<Row>();
  const path = `/api/v1/Account/${account}/webhooks`;
  const count = entries.filter(({ kind }) => kind === 'callback').length;
  const found = useLoad(`${account} ${callUuid} ${count}`, () =>
    allOf(`${path}?call_uuid=${callUuid}`),
  );
  const kept = found.value;
  // Deliveries are stored for a limited time; the timeline is stored with the call.
  const stored = entries
    .filter(({ kind }) => kind === 'callback')
    .map(({ at, text: event, facts }) => ({
      at,
      event,
      ...part(facts),
      duration_ms: part(facts)['durationMs'],
      signed_string: part(facts)['signedString'],
    }));
  return (
    <>
      <LoadProblem of={found} />
      <Table
        name={t('Callbacks')}
        rows={kept !== undefined && kept.length > 0 ? kept : kept && stored}
        problem={found.problem}
        empty={t('No callbacks were sent for this call.')}
        columns={deliveryColumns(setOpen)}
      />
      <DeliveryDrawer
        account={account}
        row={open}
        close={() => setOpen(undefined)}
        again={found.again}
      />
    </>
  );
}

interface DrawerProps {
  readonly account: string;
  readonly row: Row | undefined;
  readonly close: () => void;
  readonly again: () => void;
}

/** Sends the request of a delivery again after a confirmation, and shows the answer. */
function useReplay(path: string, delivery: Row, again: () => void) {
  const { problem, isBusy, run } = useAction();
  const replay = async () => {
    const isSure = await confirmed({
      title: t('Replay this callback?'),
      detail: t('The service sends the same request with a new signature to {url}.', {
        url: text(delivery['url']),
      }),
      action: t('Replay'),
      isDanger: false,
    });
    if (!isSure) return;
    await run(async () => {
      const sent = await call('POST', `${path}/replay`, {});
      const { status } = sent;
      if (isSuccess(status)) toast(t('The replay was answered with {status}.', { status }));
      else toast(t('The replay failed: {why}.', { why: text(status ?? sent['error']) }), 'bad');
      again();
    });
  };
  return { problem, isBusy, replay };
}

/** Request and response of one delivery, with its signature and replay. */
export function DeliveryDrawer({ account, row, close, again }: DrawerProps) {
  const id = text(row?.['id']);
  const path = `/api/v1/Account/${account}/webhooks/${id}`;
  const found = useLoad(`${account} ${id}`, () =>
    id === '' ? Promise.resolve<Row>({}) : get(path),
  );
  const whole: Row = { ...row, ...found.value };
  const { problem, isBusy, replay } = useReplay(path, whole, again);
  return (
    <Drawer title={text(row?.['event'])} isOpen={row !== undefined} close={close} isWide>
      <div class="body">
        <Problem text={problem} />
        {id !== '' && found.value === undefined && found.problem === undefined && <Skeleton />}
        <DeliveryFacts of={whole} />
        <DeliveryTexts of={whole} />
      </div>
      {id !== '' && may('change') && (
        <footer>
          <button
            type="button"
            class="btn primary"
            aria-busy={isBusy}
            onClick={() => void replay()}
          >
            {t('Replay callback')}
          </button>
        </footer>
      )}
    </Drawer>
  );
}

const DeliveryFacts = ({ of: row }: { readonly of: Row }) => (
  <Facts
    of={[
      [t('Status'), <StatusOf key="status" row={row} />],
      [t('Time'), <At key="at" value={row['at']} />],
      [t('URL'), <CopyText key="url" value={text(row['url'])} />],
      [t('Method'), text(row['method'])],
      [t('Latency'), `${Math.round(Number(row['duration_ms']))} ms`],
      [t('Error'), text(row['error'])],
      [
        t('Call'),
        text(row['call_uuid']) === '' ? (
          ''
        ) : (
          <a href={href(`calls/${text(row['call_uuid'])}`)}>{text(row['call_uuid'])}</a>
        ),
      ],
      [t('Replay of'), text(row['replay_of'])],
    ]}
  />
);

/** Bodies of the request and the response, and the text that the signature covers. */
function DeliveryTexts({ of: row }: { readonly of: Row }) {
  const [request, response, signed] = ['request_body', 'response_body', 'signed_string'].map(
    (name) => (typeof row[name] === 'string' ? row[name] : ''),
  ) as [string, string, string];
  return (
    <>
      <DeliveryText
        title={t('Request body')}
        code={readable(request)}
        language={request.startsWith('{') ? 'json' : 'text'}
      />
      <DeliveryText
        title={t('Response body')}
        code={response}
        language={response.trimStart().startsWith('<') ? 'xml' : 'text'}
      />
      <DeliveryText title={t('Signed text')} code={signed} language="text">
        <p class="small muted">
          {t('The signature is the HMAC-SHA256 of this text with the auth token of the account.')}
        </p>
      </DeliveryText>
    </>
  );
}

interface TextProps {
  readonly title: string;
  readonly code: string;
  readonly language: Language;
  readonly children?: ComponentChildren;
}

/** A text with its heading; nothing if the text is empty. */
const DeliveryText = ({ title, code, language, children }: TextProps) =>
  code === '' ? null : (
    <>
      <h3>{title}</h3>
      {children}
      <Code code={code} language={language} name={title} />
    </>
  );

/** Shows one form parameter per line. */
const readable = (body: string): string =>
  body.startsWith('{')
    ? body
    : [...new URLSearchParams(body)].map(([name, value]) => `${name}: ${value}`).join('\n');
