import { text } from '../api.ts';
import type { PageProps } from '../page-props.ts';
import { href } from '../place.ts';
import { t } from '../text.ts';
import { Badge, CopyText, Head } from '../ui/parts.tsx';
import { Resource } from '../ui/resource.tsx';

const METHODS = [
  ['POST', 'POST'],
  ['GET', 'GET'],
] as const;

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
        { title: t('Answer URL'), value: (row) => <code>{text(row['answer_url'])}</code> },
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
          name: 'answer_url',
          label: t('Answer URL'),
          hint: t('Returns the document of a call'),
          kind: 'url',
          required: true,
        },
        {
          name: 'answer_method',
          label: t('Method'),
          kind: 'select',
          options: METHODS,
          initial: 'POST',
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
