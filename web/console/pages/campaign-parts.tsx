import { number, type Row, text } from '../api.ts';
import { words } from '../format.ts';
import { t } from '../text.ts';
import { Badge, Portions, type Tone } from '../ui/parts.tsx';

const TONES: Readonly<Record<string, Tone>> = {
  running: 'good',
  completed: 'info',
  paused: 'fair',
  cancelled: 'none',
  ready: 'info',
};

export const CampaignState = ({ row }: { readonly row: Row }) => (
  <Badge tone={TONES[text(row['status'])] ?? 'none'}>{words(row['status'])}</Badge>
);

/** Contacts whose calls are over. */
export const doneOf = (row: Row): number =>
  ['answered', 'no_answer', 'busy', 'failed', 'expired'].reduce(
    (sum, name) => sum + number(row[name]),
    0,
  );

export const Progress = ({ row }: { readonly row: Row }) => (
  <Portions
    total={number(row['total_contacts'])}
    of={[
      { name: t('Answered'), value: number(row['answered']), tone: 'good' },
      {
        name: t('Not reached'),
        value: number(row['no_answer']) + number(row['busy']) + number(row['expired']),
        tone: 'fair',
      },
      { name: t('Failed'), value: number(row['failed']), tone: 'bad' },
      {
        name: t('In progress'),
        value: number(row['dialling']) + number(row['retry_pending']),
        tone: 'info',
      },
    ]}
  />
);
