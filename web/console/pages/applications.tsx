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
      about={t(
        'An application answers calls: with a stored document, or with one from your server.',
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
          title: t('Answers with'),
          value: (row) =>
            row['answer_xml'] == null ? (
              <code>{text(row['answer_url'])}</code>
            ) : (
              <a href={href('playground', { app: text(row['app_id']) })}>{t('Stored document')}</a>
            ),
          sort: (row) => text(row['answer_url']),
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
          name: 'answer_url',
          label: t('Answer URL'),
          hint: t('Your server returns the document of each call'),
          kind: 'url',
        },
        {
          name: 'answer_xml',
          label: t('Document'),
          hint: t('Instead of the URL: the service stores this document and runs it for each call'),
          kind: 'code',
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
