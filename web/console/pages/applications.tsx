import { type Row, text } from '../api.ts';
import type { PageProps } from '../page-props.ts';
import { href } from '../place.ts';
import { t } from '../text.ts';
import { enabledColumn, textColumn } from '../ui/columns.tsx';
import type { FieldSpec, Values } from '../ui/editor.tsx';
import { optionsOf } from '../ui/form.tsx';
import { Badge, CopyText, Head } from '../ui/parts.tsx';
import { Resource } from '../ui/resource.tsx';
import type { Column } from '../ui/table.tsx';

const METHODS = optionsOf(['POST', 'GET']);

const TYPES = [
  ['XML', t('Document of the answer URL')],
  ['agent', t('Agent: a model answers')],
] as const;

const isAgent = ({ application_type: type }: Values): boolean => type === 'agent';
const isDocument = (values: Values): boolean => !isAgent(values);

/** Not translated: the field names of the definition. */
const FIRST_AGENT = `instructions: You are the receptionist of a dental practice. Be brief and friendly.
greeting: Good morning, how can I help you?
model:
  type: openai-realtime
  apiKey: \${OPENAI_API_KEY}
`;

function answeredWith(row: Row) {
  if (row['application_type'] === 'agent') return <Badge tone="none">{t('Agent')}</Badge>;
  return row['answer_xml'] == null ? (
    <code>{text(row['answer_url'])}</code>
  ) : (
    <a href={href('playground', { app: text(row['app_id']) })}>{t('Stored document')}</a>
  );
}

const COLUMNS: readonly Column[] = [
  textColumn(t('Name'), 'app_name'),
  {
    title: t('Application ID'),
    value: (row) => <CopyText value={text(row['app_id'])} />,
    isMinor: true,
  },
  textColumn(t('Answers with'), 'answer_url', { value: answeredWith }),
  enabledColumn({ isMinor: true }),
];

const FIELDS: readonly FieldSpec[] = [
  { name: 'app_name', label: t('Name'), required: true },
  {
    name: 'application_type',
    label: t('Type'),
    kind: 'select',
    options: TYPES,
    initial: 'XML',
  },
  {
    name: 'agent',
    label: t('Agent'),
    hint: t('YAML or JSON. Keys are references to environment variables of the service.'),
    kind: 'area',
    required: true,
    initial: FIRST_AGENT,
    when: isAgent,
  },
  {
    name: 'answer_url',
    label: t('Answer URL'),
    hint: t('Your server returns the document of each call'),
    kind: 'url',
    when: isDocument,
  },
  {
    name: 'answer_xml',
    label: t('Document'),
    hint: t('Instead of the URL: the service stores this document and runs it for each call'),
    kind: 'code',
    when: isDocument,
  },
  {
    name: 'answer_method',
    label: t('Method'),
    kind: 'select',
    options: METHODS,
    initial: 'POST',
    when: isDocument,
  },
  {
    name: 'fallback_answer_url',
    label: t('Fallback URL'),
    hint: t('Used when the answer URL fails'),
    kind: 'url',
  },
  {
    name: 'hangup_url',
    label: t('Hangup URL'),
    hint: t('Receives the end of a call'),
    kind: 'url',
  },
  {
    name: 'hangup_method',
    label: t('Method of the hangup URL'),
    kind: 'select',
    options: METHODS,
    initial: 'POST',
  },
];

export const Applications = ({ account }: PageProps) => (
  <>
    <Head
      title={t('Applications')}
      about={t(
        'An application answers calls: with a stored document, a document from your server, or a model.',
      )}
    >
      <a class="btn" href={href('playground')}>
        {t('Open playground')}
      </a>
    </Head>
    <Resource
      title={t('Applications')}
      noun={t('application')}
      path={`/api/v1/Account/${account}/Application/`}
      member="objects"
      search="app_name__contains"
      searchLabel={t('Part of the name')}
      idOf={(row) => text(row['app_id'])}
      nameOf={(row) => text(row['app_name'])}
      deleteDetail={t('No number or endpoint may use it.')}
      prepare={({ answer_url: url, answer_xml: xml, ...body }) => ({
        ...body,
        ...(text(url) !== '' && { answer_url: url }),
        ...(text(xml) !== '' && { answer_xml: xml }),
      })}
      emptyTitle={t('No applications yet.')}
      emptyDetail={t(
        'Start from a template in the playground, or enter the answer URL of your server.',
      )}
      columns={COLUMNS}
      fields={FIELDS}
    />
  </>
);
