/** Controls of an active call. */
import { useState } from 'preact/hooks';
import { call, type Row } from '../api.ts';
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

/** An action without a form. */
interface Command {
  readonly label: string;
  readonly method: 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: object;
  /** Message after the success. */
  readonly done: string;
}

const AUDIO_COMMANDS: readonly Command[] = [
  {
    label: t('Start recording'),
    method: 'POST',
    path: 'Record/',
    body: {},
    done: t('The recording has started.'),
  },
  {
    label: t('Stop recording'),
    method: 'DELETE',
    path: 'Record/',
    done: t('The recording has stopped.'),
  },
  {
    label: t('Stop playback'),
    method: 'DELETE',
    path: 'Play/',
    done: t('The playback has stopped.'),
  },
  {
    label: t('Stop speaking'),
    method: 'DELETE',
    path: 'Speak/',
    done: t('The speech has stopped.'),
  },
];

const CANCEL_TRANSFER: Command = {
  label: t('Cancel transfer'),
  method: 'DELETE',
  path: 'Transfer/',
  done: t('The transfer is cancelled.'),
};

const STOP_STREAMS: Command = {
  label: t('Stop streams'),
  method: 'DELETE',
  path: 'Stream/',
  done: t('The streams have stopped.'),
};

/** Sends commands to the call at a path. One of the forms may be open. */
function useControl(path: string) {
  const [form, setForm] = useState<Form>();
  const { fields, setFields, set } = useFields({ value: '' });
  const { problem, fields: problems, isBusy, run } = useAction();
  const show = (next: Form) => () => {
    setFields({ value: '' });
    setForm(next);
  };
  const close = () => setForm(undefined);
  const send = ({ method, path: command, body, done }: Omit<Command, 'label'>) =>
    run(async () => {
      await call(method, `${path}${command}`, body);
      close();
      toast(done);
    });
  const hangUp = async () => {
    const isSure = await confirmed({
      title: t('Hang up this call?'),
      detail: t('The call ends for both parties.'),
      action: t('Hang up'),
    });
    if (isSure) await run(() => call('DELETE', path));
  };
  const { value } = fields;
  return { form, value, set: set('value'), problem, problems, isBusy, show, close, send, hangUp };
}

type Control = ReturnType<typeof useControl>;

/** Actions of the menu. Those of a bot are shown while one is connected. */
function actionsOf({ show, send }: Control, hasBot: boolean, transfer: () => void) {
  const action = (command: Command): Action => ({
    label: command.label,
    act: () => send(command),
  });
  return [
    ...Object.values(FORMS).map((form): Action => ({ label: form.title, act: show(form) })),
    ...AUDIO_COMMANDS.map(action),
    { label: t('Transfer to a colleague'), act: transfer, isShown: hasBot },
    { ...action(CANCEL_TRANSFER), isShown: hasBot },
    action(STOP_STREAMS),
  ];
}

export function LivePart({ account, uuid, live }: Props) {
  const path = `/api/v1/Account/${account}/Call/${uuid}/`;
  const control = useControl(path);
  const [isTransferring, setTransferring] = useState(false);
  const isAnswered = live['call_status'] === 'in-progress';
  const hasBot = Array.isArray(live['bots']) && live['bots'].length > 0;
  const actions = actionsOf(control, hasBot, () => setTransferring(true));
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
            <button type="button" class="btn danger" onClick={() => void control.hangUp()}>
              {t('Hang up')}
            </button>
          </>
        )
      }
    >
      {control.form === undefined && <Problem text={control.problem} />}
      <LiveQuality path={`${path}quality`} />
      {isAnswered && may('change') && (
        <div class="row top">
          <ListenIn account={account} uuid={uuid} />
          <StreamInspector account={account} uuid={uuid} />
        </div>
      )}
      <TransferEditor
        path={`${path}Transfer/`}
        isOpen={isTransferring}
        close={() => setTransferring(false)}
      />
      <CommandForm of={control} />
    </Card>
  );
}

interface TransferProps {
  readonly path: string;
  readonly isOpen: boolean;
  readonly close: () => void;
}

const TransferEditor = ({ path, isOpen, close }: TransferProps) => (
  <Editor
    isOpen={isOpen}
    close={close}
    row={undefined}
    noun={t('transfer')}
    title={t('Transfer to a colleague')}
    doneText={t('The transfer has started.')}
    fields={COLLEAGUE}
    request={() => ({ method: 'POST', path })}
    save={(body) => call('POST', path, body)}
    done={() => undefined}
  />
);

/** The open form of a command. */
function CommandForm({ of: control }: { readonly of: Control }) {
  const { form, value } = control;
  const act = (one: Form) =>
    control.send({ method: 'POST', path: one.path, body: one.bodyOf(value), done: one.title });
  return (
    <FormDrawer
      title={form?.title}
      isOpen={form !== undefined}
      close={control.close}
      submit={form?.title ?? ''}
      problem={control.problem}
      isBusy={control.isBusy}
      act={() => form && void act(form)}
    >
      {form && (
        <Input
          label={form.label}
          type={form.isUrl ? 'url' : 'text'}
          value={value}
          set={control.set}
          problem={control.problems[form.field]}
          required
        />
      )}
    </FormDrawer>
  );
}
