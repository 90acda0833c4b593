/** First steps of a new account on the overview. */
import { useState } from 'preact/hooks';
import { get, number, part, rows } from '../api.ts';
import { TRIAL } from '../browser-phone.ts';
import { useLive, useLoad } from '../hooks.ts';
import { href } from '../place.ts';
import { t } from '../text.ts';
import { Card } from '../ui/parts.tsx';

interface Step {
  readonly id: 'endpoint' | 'call' | 'application' | 'bot' | 'number';
  readonly name: string;
  readonly about: string;
  /** Label of the link. */
  readonly action: string;
  /** Page of the link. */
  readonly to: string;
}

const STEPS: readonly Step[] = [
  {
    id: 'endpoint',
    name: t('Create an endpoint'),
    about: t('A SIP user for a softphone or the browser phone.'),
    action: t('Create endpoint'),
    to: 'endpoints',
  },
  {
    id: 'call',
    name: t('Call the echo bot'),
    about: t('Open the browser phone of the endpoint, and call the application.'),
    action: t('Open endpoints'),
    to: 'endpoints',
  },
  {
    id: 'application',
    name: t('Create an application'),
    about: t('Save a document of the playground, or enter the URL of your server.'),
    action: t('Open playground'),
    to: 'playground',
  },
  {
    id: 'bot',
    name: t('Connect a bot'),
    about: t('Run a Stream element with the WebSocket URL of your bot, and call it.'),
    action: t('Open playground'),
    to: 'playground',
  },
  {
    id: 'number',
    name: t('Buy a number'),
    about: t('People can then call your bot from any phone.'),
    action: t('Buy number'),
    to: 'numbers',
  },
];

interface Props {
  readonly account: string;
  readonly hasCalls: boolean;
}

/** Returns which steps are done; undefined while loading. */
function useDoneSteps({
  account,
  hasCalls,
}: Props): Readonly<Record<Step['id'], boolean>> | undefined {
  const root = `/api/v1/Account/${account}`;
  const { ended } = useLive();
  const found = useLoad(`${account} ${hasCalls} ${ended}`, async () => {
    const [endpoints, apps, numbers, calls] = await Promise.all([
      get(`${root}/Endpoint/?limit=1`),
      get(`${root}/Application/?limit=2`),
      get(`${root}/numbers?per_page=1`),
      get(`${root}/cdr/recent?limit=50`),
    ]);
    const latest = rows(calls['data']);
    return {
      endpoint: number(part(endpoints['meta'])['total_count']) > 0,
      // The first test call creates an application for unsaved documents.
      application: rows(apps['objects']).some((one) => one['app_name'] !== TRIAL),
      number: number(numbers['total']) > 0,
      call: latest.some((one) => one['answer_time'] != null),
      bot: latest.some((one) => rows(one['stream_cdrs']).length > 0),
    };
  });
  return found.value;
}

/** Steps of a new account. Each is done when its event has happened. */
export function FirstSteps(props: Props) {
  const done = useDoneSteps(props);
  const kept = `console.steps.${props.account}`;
  const [isHidden, setHidden] = useState(false);
  if (done === undefined || isHidden) return null;
  const isComplete = Object.values(done).every(Boolean);
  // The completed list is shown to those who have seen it incomplete.
  if (!isComplete) localStorage.setItem(kept, 'begun');
  else if (localStorage.getItem(kept) === null) return null;
  const hide = () => {
    localStorage.removeItem(kept);
    setHidden(true);
  };
  return (
    <Card
      title={t('First steps')}
      unit={t('{done} of {all}', {
        done: STEPS.filter(({ id }) => done[id]).length,
        all: STEPS.length,
      })}
      actions={
        isComplete && (
          <button type="button" class="btn" onClick={hide}>
            {t('Hide first steps')}
          </button>
        )
      }
    >
      <ol class="steps">
        {STEPS.map((step) => (
          <StepLine key={step.id} of={step} isDone={done[step.id]} />
        ))}
      </ol>
    </Card>
  );
}

const StepLine = ({ of, isDone }: { readonly of: Step; readonly isDone: boolean }) => (
  <li class={isDone ? 'done' : ''}>
    <span class="mark">
      {isDone ? '✓' : ''}
      <span class="sr">{isDone ? t('Done') : t('Not done')}</span>
    </span>
    <span>
      <strong>{of.name}</strong>
      <br />
      <span class="muted small">{of.about}</span>
    </span>
    {!isDone && (
      <a class="btn" href={href(of.to)}>
        {of.action}
      </a>
    )}
  </li>
);
