import { useState } from 'preact/hooks';
import { call, get, number, type Row, rows, text } from '../api.ts';
import { count, dateTime, percent, words } from '../format.ts';
import { useAction, useFields, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import type { PageProps } from '../page-props.ts';
import { go, href, useQuery } from '../place.ts';
import { t } from '../text.ts';
import { Editor } from '../ui/editor.tsx';
import { Input, Save } from '../ui/form.tsx';
import { type Action, Actions, confirmed, FormDrawer } from '../ui/overlay.tsx';
import { Card, Head, LoadProblem, NotFound, Problem, Skeleton, Tabs, Tiles } from '../ui/parts.tsx';
import { toast } from '../ui/toast.tsx';
import { Funnel, PerMinute, Plan } from './campaign-charts.tsx';
import { Attempts, Contacts } from './campaign-contacts.tsx';
import { campaignBody, campaignFields } from './campaign-fields.ts';
import { CampaignState, doneOf, Progress } from './campaign-parts.tsx';
import { Pool } from './campaign-pool.tsx';
import { Upload } from './campaign-upload.tsx';
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
  const { fields, setAll } = useQuery({ part: 'contacts' });
  const row = found.value;
  if (found.status === 404) return <NotFound />;
  if (row === undefined) return found.problem ? <LoadProblem of={found} /> : <Skeleton lines={8} />;
  return (
    <>
      <Commands account={account} path={path} row={row} again={found.again} />
      <LoadProblem of={found} />
      <Pause row={row} />
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
        choose={(part) => setAll({ part })}
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

interface CommandProps {
  readonly account: string;
  readonly path: string;
  readonly row: Row;
  readonly again: () => void;
}

function Commands({ account, path, row, again }: CommandProps) {
  const { problem, fields: problems, isBusy, run } = useAction();
  const [open, setOpen] = useState<'edit' | 'schedule' | 'clone'>();
  const { fields, set, setFields } = useFields({ value: '' });
  const agents = useLoad(`${account} agents`, () =>
    get(`/api/v1/Account/${account}/campaign/agents?limit=100`),
  );
  const status = text(row['status']);
  const send = (name: string, body: object = {}, done = t('Done.')) =>
    run(async () => {
      const reply = await call('POST', `${path}/${name}`, body);
      setOpen(undefined);
      toast(done);
      again();
      if (name === 'clone') go(href(`campaigns/${text(reply['id'])}`));
    });
  const ask = async (name: string, title: string, detail: string, action: string) => {
    if (await confirmed({ title, detail, action })) await send(name);
  };
  const show = (name: 'schedule' | 'clone', value: string) => () => {
    setFields({ value });
    setOpen(name);
  };
  const isDraft = status === 'draft' || status === 'ready';
  const isActive = status === 'running' || status === 'paused';
  const actions: readonly Action[] = [
    { label: t('Edit campaign'), act: () => setOpen('edit'), isShown: isDraft },
    {
      label: t('Schedule start'),
      act: show('schedule', ''),
      isShown: isDraft,
    },
    {
      label: t('Remove schedule'),
      act: () => send('schedule', { scheduled_at: null }),
      isShown: isDraft && row['scheduled_at'] != null,
    },
    {
      label: t('Copy campaign'),
      act: show('clone', `${text(row['name'])} ${t('copy')}`),
    },
    {
      label: t('Cancel campaign'),
      act: () =>
        ask(
          'cancel',
          t('Cancel this campaign?'),
          t('It cannot be resumed. Running calls continue.'),
          t('Cancel campaign'),
        ),
      isDanger: true,
      isShown: isActive,
    },
    {
      label: t('Archive campaign'),
      act: () =>
        ask(
          'archive',
          t('Archive this campaign?'),
          t('It leaves the list. Its results stay readable.'),
          t('Archive campaign'),
        ),
      isShown: status !== 'running',
    },
  ];
  return (
    <>
      <Head
        title={
          <span class="row">
            {text(row['name'])} <CampaignState row={row} />
          </span>
        }
        about={
          row['scheduled_at'] != null && isDraft
            ? t('Starts on {time}', { time: dateTime(row['scheduled_at']) })
            : t('Health: {health}', { health: words(row['health']) })
        }
      >
        <Save path={`${path}/results`} name="results.csv">
          {t('Export results')}
        </Save>
        {may('change') && (
          <>
            {isDraft && <Upload path={path} done={again} />}
            {status === 'ready' && (
              <button
                type="button"
                class="btn primary"
                aria-busy={isBusy}
                onClick={() => void send('start', {}, t('The campaign has started.'))}
              >
                {t('Start campaign')}
              </button>
            )}
            {status === 'running' && (
              <button
                type="button"
                class="btn primary"
                aria-busy={isBusy}
                onClick={() => void send('pause', {}, t('The campaign is paused.'))}
              >
                {t('Pause campaign')}
              </button>
            )}
            {status === 'paused' && (
              <button
                type="button"
                class="btn primary"
                aria-busy={isBusy}
                onClick={() => void send('resume', {}, t('The campaign has resumed.'))}
              >
                {t('Resume campaign')}
              </button>
            )}
            <Actions of={actions} name={text(row['name'])} />
          </>
        )}
      </Head>
      {open === undefined && <Problem text={problem} />}
      <Editor
        isOpen={open === 'edit'}
        close={() => setOpen(undefined)}
        row={row}
        noun={t('campaign')}
        fields={campaignFields(rows(agents.value?.['objects']))}
        request={() => ({ method: 'PUT', path })}
        prepare={campaignBody}
        save={(body) => call('PUT', path, body)}
        done={again}
      />
      <FormDrawer
        title={open === 'clone' ? t('Copy campaign') : t('Schedule start')}
        isOpen={open === 'clone' || open === 'schedule'}
        close={() => setOpen(undefined)}
        submit={open === 'clone' ? t('Copy campaign') : t('Schedule start')}
        problem={problem}
        isBusy={isBusy}
        act={() =>
          void (open === 'clone'
            ? send('clone', { name: fields.value }, t('The campaign is copied.'))
            : send('schedule', { scheduled_at: new Date(fields.value).toISOString() }))
        }
      >
        {open === 'clone' ? (
          <Input
            label={t('Name of the copy')}
            value={fields.value}
            set={set('value')}
            problem={problems['name']}
            required
          />
        ) : (
          <Input
            label={t('Start')}
            hint={t('In the time zone of this computer')}
            type="datetime-local"
            value={fields.value}
            set={set('value')}
            problem={problems['scheduled_at']}
            required
          />
        )}
      </FormDrawer>
    </>
  );
}
