/** Parts that conferences and multi-party calls share: the card with its members, and actions for recordings. */
import type { ComponentChildren } from 'preact';
import { call, type Row, text } from '../api.ts';
import { counted } from '../format.ts';
import { useAction } from '../hooks.ts';
import { may } from '../may.ts';
import { t } from '../text.ts';
import { type Action, Actions, confirmed } from '../ui/overlay.tsx';
import { Badge, CallLink, Card, Problem, type Tone } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';

/** Sends a request about a room and reports its result. `to` is relative to the path of the room. */
export type Send = (method: string, to: string, done: string, body?: object) => Promise<unknown>;

/** Sends requests about a room, shows their result and loads the room again. */
export function useRoom(path: string, again: () => void) {
  const { problem, run } = useAction();
  const send: Send = (method, to, done, body) =>
    run(async () => {
      await call(method, `${path}${to}`, body);
      toast(done);
    }).then(again);
  return { problem, send };
}

type RecordingState = 'recording' | 'paused' | 'not-recording';

/** Actions of a recording that can be paused. `to` is the path of its owner. */
export function recordingActions(state: unknown, to: string, send: Send): readonly Action[] {
  const is = (...states: readonly RecordingState[]) => states.some((one) => one === state);
  return [
    {
      label: t('Start recording'),
      act: () => send('POST', `${to}Record/`, t('The recording has started.'), {}),
      isShown: is('not-recording'),
    },
    {
      label: t('Pause recording'),
      act: () => send('POST', `${to}Record/Pause/`, t('The recording is paused.'), {}),
      isShown: is('recording'),
    },
    {
      label: t('Resume recording'),
      act: () => send('POST', `${to}Record/Resume/`, t('The recording continues.'), {}),
      isShown: is('paused'),
    },
    {
      label: t('Stop recording'),
      act: () => send('DELETE', `${to}Record/`, t('The recording has stopped.')),
      isShown: is('recording', 'paused'),
    },
  ];
}

/** Badge of a recording's state; nothing without a recording. */
export const RecordingBadge = ({ state }: { readonly state: unknown }) =>
  state === 'recording' ? (
    <Badge tone="bad">{t('Recording')}</Badge>
  ) : state === 'paused' ? (
    <Badge tone="fair">{t('Recording paused')}</Badge>
  ) : null;

export const membersText = (n: number): string =>
  counted(n, t('1 member'), t('{n} members', { n }));

type State = readonly [tone: Tone, label: string];

interface RoomProps {
  readonly name: string;
  readonly unit: string;
  readonly members: readonly Row[];
  readonly send: Send;
  readonly problem: string | undefined;
  /** Buttons before the menu of the room. */
  readonly buttons?: ComponentChildren;
  readonly actions: readonly Action[];
  /** Column after the call. */
  readonly second: Column;
  readonly statesOf: (member: Row) => ReadonlyArray<State | false>;
  readonly timeOf: (member: Row) => string;
  readonly actionsOf: (member: Row) => readonly Action[];
  readonly children?: ComponentChildren;
}

const columnsOf = ({ second, statesOf, timeOf, actionsOf }: RoomProps): readonly Column[] => [
  {
    title: t('Call'),
    value: (one) => <CallLink uuid={one['call_uuid']} from={one['from']} to={one['to']} />,
  },
  second,
  {
    title: t('State'),
    value: (one) => (
      <span class="row">
        {statesOf(one)
          .filter((state) => state !== false)
          .map(([tone, label]) => (
            <Badge key={label} tone={tone}>
              {label}
            </Badge>
          ))}
        <RecordingBadge state={one['recording']} />
      </span>
    ),
  },
  { title: t('Time'), value: timeOf, isNumber: true },
  {
    title: t('Actions'),
    isActions: true,
    need: 'change',
    value: (one) => <Actions of={actionsOf(one)} name={text(one['from'])} />,
  },
];

/** A running room with its members. */
export function Room(props: RoomProps) {
  const { name, send, members } = props;
  const end = async () => {
    const isSure = await confirmed({
      title: t('End {name}?', { name }),
      detail: t('The calls of all members end.'),
      action: t('End for all'),
    });
    if (isSure) await send('DELETE', '', t('The conference has ended.'));
  };
  return (
    <Card
      title={name}
      unit={props.unit}
      flush
      actions={
        may('change') && (
          <>
            {props.buttons}
            <button type="button" class="btn danger" onClick={() => void end()}>
              {t('End for all')}
            </button>
            <Actions of={props.actions} name={name} />
          </>
        )
      }
    >
      <Problem text={props.problem} />
      {props.children}
      <Table
        name={t('Members of {name}', { name })}
        rows={members}
        keyOf={(one) => text(one['member_id'])}
        empty={t('No members.')}
        columns={columnsOf(props)}
      />
    </Card>
  );
}
