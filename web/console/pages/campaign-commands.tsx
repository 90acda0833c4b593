/** Heading of a campaign: start, pause and resume, and the menu with edit, schedule, copy, cancel and archive. */
import { useState } from 'preact/hooks';
import { allOf, call, type Row, text } from '../api.ts';
import { dateTime, words } from '../format.ts';
import { useAction, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import { go, href } from '../place.ts';
import { t } from '../text.ts';
import { Editor } from '../ui/editor.tsx';
import { Input, Save } from '../ui/form.tsx';
import { type Action, Actions, confirmed, FormDrawer } from '../ui/overlay.tsx';
import { Head, Problem } from '../ui/parts.tsx';
import { toast } from '../ui/toast.tsx';
import { campaignBody, campaignFields } from './campaign-fields.ts';
import { CampaignState } from './campaign-parts.tsx';
import { Upload } from './campaign-upload.tsx';

type Form = 'edit' | 'schedule' | 'clone';

/** The open form, and requests that change the state of the campaign. */
function useCommands(path: string, again: () => void) {
  const { problem, fields: problems, isBusy, run } = useAction();
  const [open, setOpen] = useState<Form>();
  /** Input of the open form: the start or the name of the copy. */
  const [value, setValue] = useState('');
  const send = (name: string, body: object = {}, done = t('Done.')) =>
    run(async () => {
      const reply = await call('POST', `${path}/${name}`, body);
      setOpen(undefined);
      toast(done);
      again();
      if (name === 'clone') go(href(`campaigns/${text(reply['id'])}`));
    });
  const show = (form: Form, initial = '') => {
    setValue(initial);
    setOpen(form);
  };
  const close = () => setOpen(undefined);
  return { problem, problems, isBusy, open, value, setValue, send, show, close };
}

type CampaignCommands = ReturnType<typeof useCommands>;

const isDraft = ({ status }: Row): boolean => status === 'draft' || status === 'ready';

/** Commands that are sent after a confirmation. */
const CONFIRMED = {
  cancel: {
    title: t('Cancel this campaign?'),
    detail: t('It cannot be resumed. Running calls continue.'),
    action: t('Cancel campaign'),
  },
  archive: {
    title: t('Archive this campaign?'),
    detail: t('It leaves the list. Its results stay readable.'),
    action: t('Archive campaign'),
  },
} as const;

function actionsOf(row: Row, { send, show }: CampaignCommands): readonly Action[] {
  const confirm = async (name: keyof typeof CONFIRMED) => {
    if (await confirmed(CONFIRMED[name])) await send(name);
  };
  const { status } = row;
  return [
    { label: t('Edit campaign'), act: () => show('edit'), isShown: isDraft(row) },
    { label: t('Schedule start'), act: () => show('schedule'), isShown: isDraft(row) },
    {
      label: t('Remove schedule'),
      act: () => send('schedule', { scheduled_at: null }),
      isShown: isDraft(row) && row['scheduled_at'] != null,
    },
    {
      label: t('Copy campaign'),
      act: () => show('clone', `${text(row['name'])} ${t('copy')}`),
    },
    {
      label: CONFIRMED.cancel.action,
      act: () => confirm('cancel'),
      isDanger: true,
      isShown: status === 'running' || status === 'paused',
    },
    {
      label: CONFIRMED.archive.action,
      act: () => confirm('archive'),
      isShown: status !== 'running',
    },
  ];
}

/** Main command of a campaign by its status. */
const MAIN_COMMANDS: Readonly<
  Record<string, readonly [name: string, label: string, done: string]>
> = {
  ready: ['start', t('Start campaign'), t('The campaign has started.')],
  running: ['pause', t('Pause campaign'), t('The campaign is paused.')],
  paused: ['resume', t('Resume campaign'), t('The campaign has resumed.')],
};

interface CommandsProps {
  readonly row: Row;
  readonly commands: CampaignCommands;
}

function MainCommand({ row, commands: { send, isBusy } }: CommandsProps) {
  const command = MAIN_COMMANDS[text(row['status'])];
  if (command === undefined) return null;
  const [name, label, done] = command;
  return (
    <button
      key={name}
      type="button"
      class="btn primary"
      aria-busy={isBusy}
      onClick={() => void send(name, {}, done)}
    >
      {label}
    </button>
  );
}

interface HeadProps {
  readonly account: string;
  /** Path of the campaign in the API. */
  readonly path: string;
  readonly row: Row;
  readonly again: () => void;
}

/** Heading of the page with the commands and their forms. */
export function CampaignHead({ account, path, row, again }: HeadProps) {
  const commands = useCommands(path, again);
  const { open, close, problem } = commands;
  const agents = useLoad(`${account} agents`, () =>
    allOf(`/api/v1/Account/${account}/campaign/agents`),
  );
  return (
    <>
      <Head
        title={
          <span class="row">
            {text(row['name'])} <CampaignState row={row} />
          </span>
        }
        about={
          row['scheduled_at'] != null && isDraft(row)
            ? t('Starts on {time}', { time: dateTime(row['scheduled_at']) })
            : t('Health: {health}', { health: words(row['health']) })
        }
      >
        <Save path={`${path}/results`} name="results.csv">
          {t('Export results')}
        </Save>
        {may('change') && (
          <>
            {isDraft(row) && <Upload path={path} done={again} />}
            <MainCommand row={row} commands={commands} />
            <Actions of={actionsOf(row, commands)} name={text(row['name'])} />
          </>
        )}
      </Head>
      {open === undefined && <Problem text={problem} />}
      <Editor
        isOpen={open === 'edit'}
        close={close}
        row={row}
        noun={t('campaign')}
        fields={campaignFields(agents.value ?? [])}
        request={() => ({ method: 'PUT', path })}
        prepare={campaignBody}
        save={(body) => call('PUT', path, body)}
        done={again}
      />
      <CommandForm of={commands} />
    </>
  );
}

/** Form for the start of a campaign, or for the name of its copy. */
function CommandForm({ of: commands }: { readonly of: CampaignCommands }) {
  const { open, close, value, setValue, send, problem, problems, isBusy } = commands;
  const isCopy = open === 'clone';
  const title = isCopy ? t('Copy campaign') : t('Schedule start');
  const submit = () =>
    isCopy
      ? send('clone', { name: value }, t('The campaign is copied.'))
      : send('schedule', { scheduled_at: new Date(value).toISOString() });
  return (
    <FormDrawer
      title={title}
      isOpen={isCopy || open === 'schedule'}
      close={close}
      submit={title}
      problem={problem}
      isBusy={isBusy}
      act={() => void submit()}
    >
      {isCopy ? (
        <Input
          label={t('Name of the copy')}
          value={value}
          set={setValue}
          problem={problems['name']}
          required
        />
      ) : (
        <Input
          label={t('Start')}
          hint={t('In the time zone of this computer')}
          type="datetime-local"
          value={value}
          set={setValue}
          problem={problems['scheduled_at']}
          required
        />
      )}
    </FormDrawer>
  );
}
