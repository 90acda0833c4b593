/** Controls of an active call. */
import { useState } from 'preact/hooks';
import { call, type Row, text } from '../api.ts';
import { words } from '../format.ts';
import { useAction, useFields } from '../hooks.ts';
import { may } from '../may.ts';
import { t } from '../text.ts';
import { Editor, type FieldSpec } from '../ui/editor.tsx';
import { Input } from '../ui/form.tsx';
import { type Action, Actions, confirmed, FormDrawer } from '../ui/overlay.tsx';
import { Badge, Card, Problem, Since } from '../ui/parts.tsx';
import { toast } from '../ui/toast.tsx';
import { LiveQuality } from './call-quality.tsx';
import { ListenIn, StreamInspector } from './listen.tsx';

interface Props {
  readonly account: string;
  readonly uuid: string;
  readonly live: Row;
}

interface Form {
  readonly title: string;
  readonly path: string;
  readonly field: string;
  readonly label: string;
  readonly isUrl?: boolean;
  readonly bodyOf: (value: string) => object;
}

const FORMS: Readonly<Record<string, Form>> = {
  transfer: {
    title: t('Transfer call'),
    path: '',
    field: 'aleg_url',
    label: t('URL of the document'),
    isUrl: true,
    bodyOf: (url) => ({ legs: 'aleg', aleg_url: url }),
  },
  refer: {
    title: t('Transfer with SIP REFER'),
    path: 'Refer/',
    field: 'refer_to',
    label: t('Number or SIP address'),
    bodyOf: (to) => ({ refer_to: to }),
  },
  play: {
    title: t('Play audio'),
    path: 'Play/',
    field: 'urls',
    label: t('URL of the audio file'),
    isUrl: true,
    bodyOf: (urls) => ({ urls }),
  },
  speak: {
    title: t('Speak text'),
    path: 'Speak/',
    field: 'text',
    label: t('Text'),
    bodyOf: (words) => ({ text: words }),
  },
  digits: {
    title: t('Send digits'),
    path: 'DTMF/',
    field: 'digits',
    label: t('Digits'),
    bodyOf: (digits) => ({ digits }),
  },
  stream: {
    title: t('Start stream'),
    path: 'Stream/',
    field: 'service_url',
    label: t('WebSocket URL of the bot'),
    isUrl: true,
    bodyOf: (url) => ({ service_url: url, bidirectional: true }),
  },
};

/** Fields of a transfer of a bot's caller to a colleague. */
const COLLEAGUE: readonly FieldSpec[] = [
  { name: 'to', label: t('Number or SIP address'), required: true },
  {
    name: 'mode',
    label: t('Kind of transfer'),
    kind: 'select',
    initial: 'blind',
    options: [
      ['blind', t('Blind: the bot leaves, and the colleague is called')],
      ['attended', t('Attended: the caller waits until the colleague answers')],
      ['warm', t('Warm: the colleague hears an introduction first')],
    ],
  },
  {
    name: 'introduction',
    label: t('Introduction'),
    kind: 'area',
    when: (values) => values['mode'] === 'warm',
  },
];

export function LivePart({ account, uuid, live }: Props) {
  const [open, setOpen] = useState<string>();
  const { fields, setFields, set } = useFields({ value: '' });
  const { problem, fields: problems, isBusy, run } = useAction();
  const path = `/api/v1/Account/${account}/Call/${uuid}/`;
  const isAnswered = live['call_status'] === 'in-progress';
  const hasBot = Array.isArray(live['bots']) && live['bots'].length > 0;
  const [isTransferring, setTransferring] = useState(false);
  const form = open === undefined ? undefined : FORMS[open];
  const show = (name: string) => () => {
    setFields({ value: '' });
    setOpen(name);
  };
  const hangUp = async () => {
    const isSure = await confirmed({
      title: t('Hang up this call?'),
      detail: t('The call ends for both parties.'),
      action: t('Hang up'),
    });
    if (isSure) await run(() => call('DELETE', path));
  };
  const send = (method: string, to: string, body: object | undefined, done: string) =>
    run(async () => {
      await call(method, `${path}${to}`, body);
      setOpen(undefined);
      toast(done);
    });
  const actions: readonly Action[] = [
    ...Object.entries(FORMS).map(([name, one]) => ({ label: one.title, act: show(name) })),
    {
      label: t('Start recording'),
      act: () => send('POST', 'Record/', {}, t('The recording has started.')),
    },
    {
      label: t('Stop recording'),
      act: () => send('DELETE', 'Record/', undefined, t('The recording has stopped.')),
    },
    {
      label: t('Stop playback'),
      act: () => send('DELETE', 'Play/', undefined, t('The playback has stopped.')),
    },
    {
      label: t('Stop speaking'),
      act: () => send('DELETE', 'Speak/', undefined, t('The speech has stopped.')),
    },
    {
      label: t('Transfer to a colleague'),
      act: () => setTransferring(true),
      isShown: hasBot,
    },
    {
      label: t('Cancel transfer'),
      act: () => send('DELETE', 'Transfer/', undefined, t('The transfer is cancelled.')),
      isShown: hasBot,
    },
    {
      label: t('Stop streams'),
      act: () => send('DELETE', 'Stream/', undefined, t('The streams have stopped.')),
    },
  ];
  return (
    <Card
      title={
        <>
          <Badge tone={isAnswered ? 'good' : 'info'}>{words(live['call_status'])}</Badge>{' '}
          <span class="muted small">
            <Since value={live['start_time']} />
          </span>
        </>
      }
      actions={
        may('change') && (
          <>
            {isAnswered && <Actions of={actions} name={t('the call')} />}
            <button type="button" class="btn danger" onClick={() => void hangUp()}>
              {t('Hang up')}
            </button>
          </>
        )
      }
    >
      {form === undefined && <Problem text={problem} />}
      <LiveQuality path={`${path}quality`} />
      {isAnswered && may('change') && (
        <div class="row top">
          <ListenIn account={account} uuid={uuid} />
          <StreamInspector account={account} uuid={uuid} />
        </div>
      )}
      <Editor
        isOpen={isTransferring}
        close={() => setTransferring(false)}
        row={undefined}
        noun={t('transfer')}
        title={t('Transfer to a colleague')}
        doneText={t('The transfer has started.')}
        fields={COLLEAGUE}
        request={() => ({ method: 'POST', path: `${path}Transfer/` })}
        save={(body) => call('POST', `${path}Transfer/`, body)}
        done={() => undefined}
      />
      <FormDrawer
        title={form?.title}
        isOpen={form !== undefined}
        close={() => setOpen(undefined)}
        submit={form?.title ?? ''}
        problem={problem}
        isBusy={isBusy}
        act={() =>
          form && void send('POST', form.path, form.bodyOf(fields.value), text(form.title))
        }
      >
        {form && (
          <Input
            label={form.label}
            type={form.isUrl ? 'url' : 'text'}
            value={fields.value}
            set={set('value')}
            problem={problems[form.field]}
            required
          />
        )}
      </FormDrawer>
    </Card>
  );
}
