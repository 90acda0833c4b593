import { text } from '../api.ts';
import type { PageProps } from '../page-props.ts';
import { href } from '../place.ts';
import { t } from '../text.ts';
import type { Values } from '../ui/editor.tsx';
import { Badge, CopyText, Head } from '../ui/parts.tsx';
import { Resource } from '../ui/resource.tsx';

const METHODS = [
  ['POST', 'POST'],
  ['GET', 'GET'],
] as const;

const TYPES = [
  ['XML', t('Document of the answer URL')],
  ['agent', t('Agent: a model answers')],
] as const;

const isAgent = ({ application_type: type }: Values): boolean => type === 'agent';

/** Not translated: the field names of the definition. */
const FIRST_AGENT = `instructions: You are the receptionist of a dental practice. Be brief and friendly.
greeting: Good morning, how can I help you?
model:
  type: openai-realtime
  apiKey: \${OPENAI_API_KEY}
`;

export const Applications = ({ account }: PageProps) => (
  <>
    <Head
      title={t('Applications')}
      about={t('An application says where the service requests the document of a call.')}
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
      searchLabel={t('Name')}
      idOf={(row) => text(row['app_id'])}
      nameOf={(row) => text(row['app_name'])}
      deleteDetail={t('No number or endpoint may use it.')}
      emptyTitle={t('No applications yet.')}
      emptyDetail={t(
        'Create one with the answer URL of your server, or start from a template in the playground.',
      )}
      columns={[
        {
          title: t('Name'),
          value: (row) => text(row['app_name']),
          sort: (row) => text(row['app_name']),
        },
        {
          title: t('Application ID'),
          value: (row) => <CopyText value={text(row['app_id'])} />,
          isMinor: true,
        },
        {
          title: t('Answer URL'),
          value: (row) =>
            row['application_type'] === 'agent' ? (
              <Badge tone="none">{t('Agent')}</Badge>
            ) : (
              <code>{text(row['answer_url'])}</code>
            ),
        },
        {
          title: t('State'),
          value: (row) => (
            <Badge tone={row['enabled'] === true ? 'good' : 'none'}>
              {row['enabled'] === true ? t('Enabled') : t('Disabled')}
            </Badge>
          ),
          isMinor: true,
        },
      ]}
      fields={[
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
          hint: t('Returns the document of a call'),
          kind: 'url',
          required: true,
          when: (values) => !isAgent(values),
        },
        {
          name: 'answer_method',
          label: t('Method'),
          kind: 'select',
          options: METHODS,
          initial: 'POST',
          when: (values) => !isAgent(values),
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
      ]}
    />
  </>
);
