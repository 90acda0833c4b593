/** Multi-party calls: members with roles, recordings of the call and of members, and new participants. */
import { useState } from 'preact/hooks';
import { call, type Row, rows, text } from '../api.ts';
import { clock } from '../format.ts';
import { may } from '../may.ts';
import { t } from '../text.ts';
import { Editor, type FieldSpec } from '../ui/editor.tsx';
import { optionsOf } from '../ui/form.tsx';
import type { Action } from '../ui/overlay.tsx';
import type { Column } from '../ui/table.tsx';
import { useMemberAudio } from './member-audio.tsx';
import {
  membersText,
  RecordingBadge,
  Room,
  recordingActions,
  type Send,
  useRoom,
} from './room.tsx';

/** Action that changes a flag of a member: `on` sets it, `off` clears it. */
function toggle(
  member: Row,
  field: 'mute' | 'hold' | 'coach_mode',
  [on, off]: readonly [string, string],
  send: Send,
): Action {
  const isOn = member[field] === true;
  const label = isOn ? off : on;
  const to = `Participant/${text(member['member_id'])}/`;
  return { label, act: () => send('POST', to, label, { [field]: !isOn }) };
}

/** Actions of a member. `audio` returns those that play audio; its argument is the path of the member. */
function memberActions(
  member: Row,
  send: Send,
  audio: (to: string) => readonly Action[],
): readonly Action[] {
  const id = text(member['member_id']);
  return [
    toggle(member, 'mute', [t('Mute'), t('Unmute')], send),
    toggle(member, 'hold', [t('Hold'), t('Resume')], send),
    {
      ...toggle(member, 'coach_mode', [t('Start coaching'), t('Stop coaching')], send),
      isShown: text(member['role']).toLowerCase() === 'supervisor',
    },
    ...audio(`Member/${id}/`),
    ...recordingActions(member['recording'], `Participant/${id}/`, send),
    {
      label: t('Remove from call'),
      act: () => send('DELETE', `Participant/${id}/`, t('Removed.')),
      isDanger: true,
    },
  ];
}

const ROLE: Column = {
  title: t('Role'),
  value: (one) => text(one['role']),
  sort: (one) => text(one['role']),
};

interface PartyProps {
  readonly root: string;
  readonly row: Row;
  readonly again: () => void;
}

/** A running multi-party call with its members. */
export function Party({ root, row, again }: PartyProps) {
  const path = `uuid_${text(row['mpc_uuid'])}/`;
  const { problem, send } = useRoom(`${root}${path}`, again);
  const audio = useMemberAudio(send, { speaks: false });
  const members = rows(row['members']).filter((one) => one['exit_time'] == null);
  return (
    <Room
      name={text(row['friendly_name'])}
      unit={`${text(row['status'])}, ${membersText(members.length)}, ${clock(Number(row['duration']))}`}
      members={members}
      send={send}
      problem={problem}
      buttons={
        <>
          <RecordingBadge state={row['recording']} />
          <AddParticipant root={root} path={path} done={again} />
        </>
      }
      actions={[
        {
          label: t('Start without waiting'),
          act: () => send('POST', '', t('The multi-party call has started.'), { status: 'active' }),
          isShown: row['status'] === 'Initialized',
        },
        ...recordingActions(row['recording'], '', send),
      ]}
      second={ROLE}
      statesOf={(one) => [
        one['mute'] === true && ['fair', t('Muted')],
        one['hold'] === true && ['info', t('On hold')],
        one['coach_mode'] === true && ['info', t('Coaching')],
        one['mute'] !== true && one['hold'] !== true && ['good', t('Connected')],
      ]}
      timeOf={(one) => clock(Number(one['duration']))}
      actionsOf={(one) => memberActions(one, send, audio.actions)}
    >
      {audio.form}
    </Room>
  );
}

interface AddProps {
  readonly root: string;
  /** Path of a running multi-party call; absent: the form asks for the name. */
  readonly path?: string;
  readonly done: () => void;
}

const isMove = (values: Readonly<Record<string, string>>) => values['by'] === 'move';

const FIELDS: readonly FieldSpec[] = [
  {
    name: 'role',
    label: t('Role'),
    kind: 'select',
    initial: 'agent',
    options: optionsOf(['agent', 'customer', 'supervisor']),
  },
  {
    name: 'by',
    label: t('Join by'),
    kind: 'select',
    initial: 'call',
    options: [
      ['call', t('New call')],
      ['move', t('Moving a running call')],
    ],
  },
  {
    name: 'from',
    label: t('From'),
    hint: t('A number of the account or a verified caller ID'),
    required: true,
    when: (values) => !isMove(values),
  },
  {
    name: 'to',
    label: t('To'),
    hint: t('A number in E.164 format, or a SIP address'),
    required: true,
    when: (values) => !isMove(values),
  },
  { name: 'call_uuid', label: t('Call UUID'), required: true, when: isMove },
  { name: 'mute', label: t('Join muted'), kind: 'flag', initial: 'false' },
];

/** Adds a participant by a new call or by moving a running call. The first participant creates the multi-party call. */
export function AddParticipant({ root, path, done }: AddProps) {
  const [isOpen, setOpen] = useState(false);
  const title = path === undefined ? t('Create multi-party call') : t('Add participant');
  if (!may('change')) return null;
  const pathOf = (name: string) =>
    `${root}${path ?? `name_${encodeURIComponent(name)}/`}Participant/`;
  return (
    <>
      <button type="button" class="btn" onClick={() => setOpen(true)}>
        {title}
      </button>
      <Editor
        isOpen={isOpen}
        close={() => setOpen(false)}
        row={undefined}
        noun={t('participant')}
        title={title}
        doneText={t('The participant joins when the call is answered.')}
        fields={
          path === undefined
            ? [{ name: 'name', label: t('Name'), required: true }, ...FIELDS]
            : FIELDS
        }
        request={() => ({ method: 'POST', path: pathOf('NAME') })}
        prepare={({ by: _by, ...body }) => body}
        save={(body) => {
          const { name, ...sent } = body as Row;
          return call('POST', pathOf(text(name)), sent);
        }}
        done={done}
      />
    </>
  );
}
