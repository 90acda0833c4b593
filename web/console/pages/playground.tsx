import { useEffect, useRef, useState } from 'preact/hooks';
import { allOf, call, get, messageOf, type Row, rows, text } from '../api.ts';
import { TRIAL } from '../browser-phone.ts';
import { clock } from '../format.ts';
import { type Loaded, useLive, useLoad, useSettled } from '../hooks.ts';
import { may } from '../may.ts';
import type { PageProps } from '../page-props.ts';
import { href, useQuery } from '../place.ts';
import { t } from '../text.ts';
import { Editor } from '../ui/editor.tsx';
import { Select } from '../ui/form.tsx';
import { Badge, Card, Head, LoadProblem, RecordLink } from '../ui/parts.tsx';
import { Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';
import { endTone } from './call-end.ts';
import { TEMPLATES } from './templates.ts';
import { TrialCall } from './trial-call.tsx';
import { XmlEditor } from './xml-editor.tsx';

const WAIT_MS = 300;
const KEPT = 'console.playground';

type Show = ((line: number, column: number) => void) | undefined;

/** Applications of the account with a stored document, and the one in the URL. */
function useApplications(account: string) {
  const { fields, setAll } = useQuery({ app: '' });
  const path = `/api/v1/Account/${account}/Application/`;
  const apps = useLoad(account, () => allOf(path));
  const stored = (apps.value ?? []).filter(
    (one) => one['answer_xml'] != null && one['app_name'] !== TRIAL,
  );
  const saved = stored.find((one) => one['app_id'] === fields.app);
  const savedXml = saved && text(saved['answer_xml']);
  const choose = (app: string) => setAll({ app });
  return { path, stored, savedXml, id: fields.app, choose, again: apps.again };
}

/** Stores the document in the browser, and returns what the service's parser found in it. */
function useVerdict(xml: string): Loaded<Row> {
  const settled = useSettled(xml, WAIT_MS);
  useEffect(() => localStorage.setItem(KEPT, xml), [xml]);
  return useLoad(settled, () => call('POST', '/console/api/xml/check', { xml: settled }));
}

/** XML editor with highlighting and completion that validates the document with the service's parser while typing. */
export function Playground({ account }: PageProps) {
  const [xml, setXml] = useState(() => localStorage.getItem(KEPT) ?? TEMPLATES[1]?.xml ?? '');
  const { path, stored, savedXml, id, choose, again } = useApplications(account);
  const [isNaming, setNaming] = useState(false);
  const [round, setRound] = useState(0);
  /** Replaces the text of the editor. */
  const replace = (next: string) => {
    setXml(next);
    setRound((count) => count + 1);
  };
  // A later answer does not replace what the user has typed since.
  const isLoaded = savedXml !== undefined;
  useEffect(() => {
    if (isLoaded && savedXml !== xml) replace(savedXml);
  }, [id, isLoaded]);
  const checked = useVerdict(xml);
  const isFine = checked.value?.['ok'] === true;
  const save = () =>
    call('POST', `${path}${id}/`, { answer_xml: xml })
      .then(() => toast(t('Saved document. The next call runs it.')))
      .catch((error: unknown) => toast(messageOf(error), 'bad'))
      .then(again);
  const application = xml === savedXml ? id : '';
  const name = () => setNaming(true);
  return (
    <>
      <PlaygroundHead {...{ stored, id, choose, xml, replace }} />
      <DocumentCard {...{ round, xml, setXml, savedXml, checked, save, name }} />
      {savedXml !== undefined && <Assignment />}
      <Editor
        isOpen={isNaming}
        close={() => setNaming(false)}
        row={undefined}
        noun={t('application')}
        fields={[{ name: 'app_name', label: t('Name'), required: true }]}
        request={() => ({ method: 'POST', path })}
        prepare={(body) => ({ ...body, answer_xml: xml })}
        save={async (body) => choose(text((await call('POST', path, body))['app_id']))}
        done={again}
      />
      {may('change') && (
        <Card title={t('Test call')}>
          <TrialCall {...{ account, xml, isFine, application }} />
        </Card>
      )}
      <History account={account} />
    </>
  );
}

interface HeadProps {
  readonly stored: readonly Row[];
  /** ID of the application in the URL; '' if there is none. */
  readonly id: string;
  readonly choose: (id: string) => void;
  readonly xml: string;
  readonly replace: (xml: string) => void;
}

/** Head of the page with the choice of an application and a template. */
function PlaygroundHead({ stored, id, choose, xml, replace }: HeadProps) {
  const template = TEMPLATES.find((one) => one.xml === xml)?.name ?? '';
  const chooseTemplate = (name: string) => {
    const next = TEMPLATES.find((one) => one.name === name);
    if (next !== undefined) replace(next.xml);
  };
  return (
    <Head
      title={t('Playground')}
      about={t('Write a document, call it with the browser phone, and save it as an application.')}
    >
      {stored.length > 0 && (
        <Select
          label={t('Application')}
          value={id}
          set={choose}
          options={[
            ['', t('Not saved')],
            ...stored.map((one) => [text(one['app_id']), text(one['app_name'])] as const),
          ]}
        />
      )}
      <Select
        label={t('Template')}
        value={template}
        set={chooseTemplate}
        options={[['', t('Own document')], ...TEMPLATES.map(({ name }) => [name, name] as const)]}
      />
    </Head>
  );
}

interface DocumentProps {
  /** Changes when the text of the editor is replaced. */
  readonly round: number;
  readonly xml: string;
  readonly setXml: (xml: string) => void;
  readonly savedXml: string | undefined;
  readonly checked: Loaded<Row>;
  readonly save: () => Promise<unknown>;
  /** Asks for the name of a new application. */
  readonly name: () => void;
}

/** The editor with the result of the validation, and the buttons that save. */
function DocumentCard({ round, xml, setXml, savedXml, checked, save, name }: DocumentProps) {
  const show = useRef<Show>(undefined);
  const found = checked.value;
  const isFine = found?.['ok'] === true;
  return (
    <Card
      title={t('Document')}
      actions={
        may('change') && (
          <>
            {savedXml !== undefined && (
              <button
                type="button"
                class="btn"
                disabled={!isFine || xml === savedXml}
                onClick={() => void save()}
              >
                {t('Save document')}
              </button>
            )}
            <button type="button" class="btn primary" disabled={!isFine} onClick={name}>
              {t('Save as application')}
            </button>
          </>
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
      <LoadProblem of={checked} />
      {checked.problem === undefined && <Verdict found={found} show={show} />}
    </Card>
  );
}

interface VerdictProps {
  readonly found: Row | undefined;
  readonly show: { readonly current: Show };
}

/** Result of the validation, with a link to the error. */
function Verdict({ found, show }: VerdictProps) {
  const isFine = found?.['ok'] === true;
  return (
    <p id="verdict" role="status">
      {found === undefined && <span class="muted">{t('Validating …')}</span>}
      {isFine && <span class="text-good">{t('The document is valid.')}</span>}
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
  );
}

const Assignment = () => (
  <p class="small muted">
    {t('Calls run this document when a number or an endpoint uses the application.')}{' '}
    <a href={href('numbers')}>{t('Assign a number')}</a>{' '}
    <a href={href('endpoints')}>{t('Assign an endpoint')}</a>
  </p>
);

/** Latest calls of the account, with their executed documents. */
function History({ account }: { readonly account: string }) {
  const { ended } = useLive();
  const found = useLoad(`${account} ${ended}`, () =>
    get(`/api/v1/Account/${account}/cdr/recent?limit=8`),
  );
  return (
    <Card title={t('Execution history')} flush>
      <LoadProblem of={found} />
      <Table
        name={t('Execution history')}
        rows={found.value && rows(found.value['data'])}
        problem={found.problem}
        empty={t('No calls yet.')}
        columns={[
          {
            title: t('Call'),
            value: (row) => <RecordLink row={row} />,
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
