import { useEffect, useRef, useState } from 'preact/hooks';
import { call, get, type Row, rows, text } from '../api.ts';
import { clock } from '../format.ts';
import { useLive, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import type { PageProps } from '../page-props.ts';
import { href } from '../place.ts';
import { t } from '../text.ts';
import { Select } from '../ui/form.tsx';
import { Badge, Card, Head } from '../ui/parts.tsx';
import { Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';
import { endTone } from './call-end.ts';
import { TEMPLATES } from './templates.ts';
import { TrialCall } from './trial-call.tsx';
import { XmlEditor } from './xml-editor.tsx';

const WAIT_MS = 300;
const KEPT = 'console.playground';

/** XML editor with highlighting and completion that validates the document with the service's parser while typing. */
export function Playground({ account }: PageProps) {
  const [xml, setXml] = useState(() => localStorage.getItem(KEPT) ?? TEMPLATES[1]?.xml ?? '');
  const [found, setFound] = useState<Row>();
  const [round, setRound] = useState(0);
  const show = useRef<((line: number, column: number) => void) | undefined>(undefined);
  useEffect(() => {
    localStorage.setItem(KEPT, xml);
    let isCurrent = true;
    const timer = setTimeout(() => {
      call('POST', '/console/api/xml/check', { xml }).then(
        (told) => isCurrent && setFound(told),
        () => undefined,
      );
    }, WAIT_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [xml]);
  const isFine = found?.['ok'] === true;
  const verbs = Array.isArray(found?.['instructions']) ? found['instructions'].map(text) : [];
  const template = TEMPLATES.find((one) => one.xml === xml)?.name ?? '';
  const choose = (name: string) => {
    const next = TEMPLATES.find((one) => one.name === name);
    if (next === undefined) return;
    setXml(next.xml);
    setRound(round + 1);
  };
  const store = async () => {
    const { url } = await call('POST', '/console/api/xml/draft', { xml });
    await navigator.clipboard.writeText(text(url));
    toast(t('The URL of the document is copied. It is valid until the service restarts.'));
  };
  return (
    <>
      <Head
        title={t('Playground')}
        about={t('Write a document, validate it, and call it with the browser phone.')}
      >
        <Select
          label={t('Template')}
          value={template}
          set={choose}
          options={[['', t('Own document')], ...TEMPLATES.map(({ name }) => [name, name] as const)]}
        />
      </Head>
      <Card
        title={t('Document')}
        actions={
          may('change') && (
            <button type="button" class="btn" disabled={!isFine} onClick={() => void store()}>
              {t('Copy document URL')}
            </button>
          )
        }
      >
        <XmlEditor
          key={round}
          value={xml}
          set={setXml}
          show={show}
          isInvalid={found !== undefined && !isFine}
        />
        <p id="verdict" role="status">
          {found === undefined && <span class="muted">{t('Validating …')}</span>}
          {isFine && (
            <span class="text-good">
              {t('The document is valid: {verbs}.', {
                verbs: verbs.join(', ') || t('no elements'),
              })}
            </span>
          )}
          {found !== undefined && !isFine && (
            <span class="row">
              <span class="text-bad">
                {t('Line {line}, column {column}: {message}.', {
                  line: text(found['line']),
                  column: text(found['column']),
                  message: text(found['message']),
                })}{' '}
                {t('Expected: {expected}.', { expected: text(found['expected']) })}
              </span>
              <button
                type="button"
                class="btn tiny"
                onClick={() => show.current?.(Number(found['line']), Number(found['column']))}
              >
                {t('Go to error')}
              </button>
            </span>
          )}
        </p>
      </Card>
      {may('change') && (
        <Card title={t('Test call')}>
          <TrialCall account={account} xml={xml} isFine={isFine} />
        </Card>
      )}
      <History account={account} />
    </>
  );
}

/** Latest calls of the account, with their executed documents. */
function History({ account }: { readonly account: string }) {
  const { total } = useLive();
  const found = useLoad(`${account} ${total}`, () =>
    get(`/api/v1/Account/${account}/cdr/recent?limit=8`),
  );
  return (
    <Card title={t('Execution history')} flush>
      <Table
        name={t('Execution history')}
        rows={found.value && rows(found.value['data'])}
        problem={found.problem}
        empty={t('No calls yet.')}
        columns={[
          {
            title: t('Call'),
            value: (row) => (
              <a href={href(`calls/${text(row['uuid'])}`)}>
                {text(row['caller_id_number'])} → {text(row['destination_number'])}
              </a>
            ),
          },
          {
            title: t('End'),
            value: (row) => <Badge tone={endTone(row)}>{text(row['hangup_cause_name'])}</Badge>,
          },
          {
            title: t('Answered time'),
            value: (row) => clock(Number(row['billsec'] ?? 0)),
            isNumber: true,
          },
        ]}
      />
    </Card>
  );
}
