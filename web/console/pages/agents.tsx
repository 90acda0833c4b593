import { text } from '../api.ts';
import type { PageProps } from '../page-props.ts';
import { href } from '../place.ts';
import { t } from '../text.ts';
import { textColumn } from '../ui/columns.tsx';
import type { FieldSpec } from '../ui/editor.tsx';
import { optionsOf } from '../ui/form.tsx';
import { Badge, Head } from '../ui/parts.tsx';
import { Resource } from '../ui/resource.tsx';
import type { Column } from '../ui/table.tsx';

const DETECTION = [
  ['true', t('Detect')],
  ['hangup', t('Detect and hang up')],
] as const;

const COLUMNS: readonly Column[] = [
  textColumn(t('Name'), 'name'),
  { title: t('Answer URL'), value: (row) => <code>{text(row['answer_url'])}</code> },
  {
    title: t('Recording'),
    value: (row) => (row['record'] === true ? <Badge tone="info">{t('On')}</Badge> : t('Off')),
    isMinor: true,
  },
  textColumn(t('Machine detection'), 'machine_detection', {
    value: (row) => DETECTION.find(([name]) => name === row['machine_detection'])?.[1] ?? t('Off'),
    isMinor: true,
  }),
];

const FIELDS: readonly FieldSpec[] = [
  { name: 'name', label: t('Name'), required: true },
  { name: 'answer_url', label: t('Answer URL'), kind: 'url', required: true },
  {
    name: 'answer_method',
    label: t('Method'),
    kind: 'select',
    options: optionsOf(['POST', 'GET']),
    initial: 'POST',
  },
  { name: 'hangup_url', label: t('Hangup URL'), kind: 'url' },
  { name: 'ring_url', label: t('Ring URL'), kind: 'url' },
  { name: 'fallback_url', label: t('Fallback URL'), kind: 'url' },
  {
    name: 'ring_timeout',
    label: t('Ring timeout, seconds'),
    kind: 'number',
    group: t('Limits'),
  },
  { name: 'time_limit', label: t('Time limit, seconds'), kind: 'number' },
  {
    name: 'machine_detection',
    label: t('Machine detection'),
    kind: 'select',
    options: [['', t('Off')], ...DETECTION],
  },
  {
    name: 'record',
    label: t('Record calls'),
    kind: 'flag',
    initial: 'false',
    group: t('Recording'),
  },
  {
    name: 'record_file_format',
    label: t('Format'),
    kind: 'select',
    initial: 'mp3',
    options: [
      ['mp3', 'MP3'],
      ['wav', 'WAV'],
    ],
    when: (values) => values['record'] === 'true',
  },
];

export const Agents = ({ account }: PageProps) => (
  <>
    <Head
      title={t('Agents')}
      about={t(
        'An agent answers the calls of campaigns: its answer URL returns the document. To answer calls with a model, create an application of type agent.',
      )}
    >
      <a class="btn" href={href('applications')}>
        {t('Open applications')}
      </a>
    </Head>
    <Resource
      title={t('Agents')}
      noun={t('agent')}
      path={`/api/v1/Account/${account}/campaign/agents`}
      member="objects"
      editMethod="PUT"
      idOf={(row) => text(row['id'])}
      nameOf={(row) => text(row['name'])}
      deleteDetail={t('Unfinished campaigns must not use it.')}
      emptyTitle={t('No agents yet.')}
      emptyDetail={t('Create an agent with the answer URL of your bot.')}
      columns={COLUMNS}
      fields={FIELDS}
    />
  </>
);
