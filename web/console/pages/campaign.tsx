import { get, number, type Row, text } from '../api.ts';
import { count, percent, words } from '../format.ts';
import { useLoad } from '../hooks.ts';
import type { PageProps } from '../page-props.ts';
import { useQuery } from '../place.ts';
import { t } from '../text.ts';
import { Card, LoadProblem, NotFound, Skeleton, Tabs, Tiles } from '../ui/parts.tsx';
import { Funnel, PerMinute, Plan } from './campaign-charts.tsx';
import { CampaignHead } from './campaign-commands.tsx';
import { Attempts, Contacts } from './campaign-contacts.tsx';
import { doneOf, Progress } from './campaign-parts.tsx';
import { Pool } from './campaign-pool.tsx';
import { Week } from './campaign-week.tsx';

const EVERY_MS = 3000;

/** Why a campaign pauses, and what to do. */
const PAUSES: Readonly<Record<string, readonly [why: string, solution: string]>> = {
  manual_pause: [t('A user paused the campaign.'), t('Resume it when you are ready.')],
  window_closed: [
    t('The calling window is closed.'),
    t('The campaign resumes automatically when the window opens.'),
  ],
  stalled: [
    t('No call was possible for some time.'),
    t('Check the caller numbers of the pool and the limits of the account.'),
  ],
  consecutive_failures: [
    t('Too many calls failed one after another.'),
    t('Open the last calls below to see the cause, correct it, and resume.'),
  ],
  balance_insufficient: [
    t('The balance does not cover another call.'),
    t('Add credit to the account, then resume.'),
  ],
  caller_pool_exhausted: [
    t('Every number of the pool has reached its limit.'),
    t('Add numbers to the pool or raise the limits, then resume.'),
  ],
  caller_pool_daily_limit_reached: [
    t('Every number of the pool has reached its limit for today.'),
    t('The campaign resumes tomorrow. To continue today, add numbers to the pool.'),
  ],
  account_inactive: [t('The account is not active.'), t('Activate the account, then resume.')],
};

export function CampaignPage({ account, id }: PageProps & { readonly id: string }) {
  const path = `/api/v1/Account/${account}/campaigns/${id}`;
  const found = useLoad(path, () => get(path), EVERY_MS);
  const { fields, setAll } = useQuery({ part: 'contacts', page: '1' });
  const row = found.value;
  if (found.status === 404) return <NotFound />;
  if (row === undefined) return found.problem ? <LoadProblem of={found} /> : <Skeleton lines={8} />;
  return (
    <>
      <CampaignHead account={account} path={path} row={row} again={found.again} />
      <LoadProblem of={found} />
      <Pause row={row} />
      <Counts row={row} />
      <Progress row={row} />
      <div class="columns">
        <Card title={t('Funnel')} unit={t('contacts')}>
          <Funnel row={row} />
        </Card>
        <PerMinute path={path} last={text(row['last_dial_at'])} />
      </div>
      <div class="columns">
        <Card title={t('Calling window')} unit={text(row['timezone'])}>
          <Week row={row} />
        </Card>
        <Card title={t('Settings')}>
          <Plan row={row} />
        </Card>
      </div>
      <Tabs
        tabs={[
          ['contacts', t('Contacts')],
          ['calls', t('Calls')],
          ['pool', t('Caller numbers')],
        ]}
        chosen={fields.part}
        choose={(part) => setAll({ part, page: '1' })}
      />
      {fields.part === 'calls' ? (
        <Attempts path={path} tick={`${doneOf(row)} ${number(row['dialling'])}`} />
      ) : fields.part === 'pool' ? (
        <Pool path={path} row={row} />
      ) : (
        <Contacts path={path} row={row} />
      )}
    </>
  );
}

/** Contacts by their state. */
const Counts = ({ row }: { readonly row: Row }) => (
  <Tiles
    of={[
      {
        name: t('Progress'),
        value: percent(doneOf(row) / Math.max(1, number(row['total_contacts']))),
        note: t('{done} of {all} contacts', {
          done: count(doneOf(row)),
          all: count(row['total_contacts']),
        }),
      },
      {
        name: t('Answered'),
        value: count(row['answered']),
        note: percent(number(row['answered']) / Math.max(1, doneOf(row))),
      },
      {
        name: t('Running calls'),
        value: count(row['dialling']),
        note: t('of {n}', { n: text(row['max_concurrent']) }),
      },
      { name: t('Waiting for a retry'), value: count(row['retry_pending']) },
      { name: t('Not called yet'), value: count(row['pending']) },
      { name: t('Failed'), value: count(row['failed']) },
    ]}
  />
);

function Pause({ row }: { readonly row: Row }) {
  const reason = text(row['pause_reason']);
  if (row['status'] !== 'paused' || reason === '') return null;
  const [why, solution] = PAUSES[reason] ?? [words(reason), t('Correct the cause, then resume.')];
  return (
    <div class="callout fair" role="status">
      <strong>{why}</strong>
      <span>{solution}</span>
    </div>
  );
}
