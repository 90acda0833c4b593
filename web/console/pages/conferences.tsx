import { call, get, type Row, rows, text } from '../api.ts';
import { clock } from '../format.ts';
import { useAction, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import type { PageProps } from '../page-props.ts';
import { href } from '../place.ts';
import { t } from '../text.ts';
import { type Action, Actions, confirmed } from '../ui/overlay.tsx';
import { Badge, CallLink, Card, Empty, Head, LoadProblem, Problem } from '../ui/parts.tsx';
import { Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';
import { useMemberAudio } from './member-audio.tsx';

const EVERY_MS = 2000;

/** Running conferences and multi-party calls with their members. */
export function Conferences({ account }: PageProps) {
  const root = `/api/v1/Account/${account}`;
  const found = useLoad(
    account,
    async () => {
      const names = (await get(`${root}/Conference/`))['conferences'];
      const wanted = Array.isArray(names) ? names.map(text).slice(0, 50) : [];
      // A conference may end between the two requests.
      const each = wanted.map((name) =>
        get(`${root}/Conference/${encodeURIComponent(name)}/`).catch(() => undefined),
      );
      return (await Promise.all(each)).filter((one) => one !== undefined);
    },
    EVERY_MS,
  );
  const parties = useLoad(
    `${account} parties`,
    async () => {
      const list = rows((await get(`${root}/MultiPartyCall/`))['objects']).slice(0, 50);
      return Promise.all(
        list.map(async (one): Promise<Row> => {
          if (one['status'] === 'Ended') return one;
          const path = `${root}/MultiPartyCall/uuid_${text(one['mpc_uuid'])}/Participant/`;
          const members = await get(path).catch((): Row => ({}));
          return { ...one, members: rows(members['objects']) };
        }),
      );
    },
    EVERY_MS,
  );
  const running = parties.value?.filter((one) => one['status'] !== 'Ended');
  const ended = parties.value?.filter((one) => one['status'] === 'Ended');
  const isEmpty = found.value?.length === 0 && running?.length === 0;
  return (
    <>
      <Head
        title={t('Conferences')}
        about={t(
          'Conferences and multi-party calls with their members. The page updates every two seconds.',
        )}
      />
      <LoadProblem of={found} />
      <LoadProblem of={parties} />
      {isEmpty && (
        <Empty title={t('No conference is running.')}>
          <p>{t('A conference starts when a call runs a Conference or MultiPartyCall element.')}</p>
          <a class="btn" href={href('playground')}>
            {t('Open playground')}
          </a>
        </Empty>
      )}
      {found.value?.map((one) => (
        <Conference
          key={text(one['conference_uuid'])}
          root={`${root}/Conference/`}
          row={one}
          again={found.again}
        />
      ))}
      {running?.map((one) => (
        <Party
          key={text(one['mpc_uuid'])}
          root={`${root}/MultiPartyCall/`}
          row={one}
          again={parties.again}
        />
      ))}
      {ended !== undefined && ended.length > 0 && (
        <Card title={t('Ended multi-party calls')} flush>
          <Table
            name={t('Ended multi-party calls')}
            rows={ended}
            keyOf={(row) => text(row['mpc_uuid'])}
            empty=""
            columns={[
              {
                title: t('Name'),
                value: (row) => text(row['friendly_name']),
                sort: (row) => text(row['friendly_name']),
              },
              { title: t('Cause'), value: (row) => text(row['termination_cause']) },
              {
                title: t('Duration'),
                value: (row) => clock(Number(row['duration'])),
                sort: (row) => Number(row['duration']),
                isNumber: true,
              },
            ]}
          />
        </Card>
      )}
    </>
  );
}

interface RoomProps {
  readonly root: string;
  readonly row: Row;
  readonly again: () => void;
}

/** Sends requests about a room, shows their result and loads the room again. */
function useRoom(path: string, again: () => void) {
  const { problem, run } = useAction();
  const send = (method: string, to: string, done: string, body?: object) =>
    run(async () => {
      await call(method, `${path}${to}`, body);
      toast(done);
    }).then(again);
  const end = async (name: string) => {
    const isSure = await confirmed({
      title: t('End {name}?', { name }),
      detail: t('The calls of all members end.'),
      action: t('End for all'),
    });
    if (isSure) await send('DELETE', '', t('The conference has ended.'));
  };
  return { problem, send, end };
}

function Conference({ root, row, again }: RoomProps) {
  const name = text(row['conference_name']);
  const { problem, send, end } = useRoom(`${root}${encodeURIComponent(name)}/`, again);
  const member = (one: Row, to: string) => `Member/${text(one['member_id'])}/${to}`;
  const audio = useMemberAudio(send);
  const actions = (one: Row): readonly Action[] => [
    one['muted'] === true
      ? { label: t('Unmute'), act: () => send('DELETE', member(one, 'Mute/'), t('Unmuted.')) }
      : { label: t('Mute'), act: () => send('POST', member(one, 'Mute/'), t('Muted.'), {}) },
    one['deaf'] === true
      ? {
          label: t('Let hear'),
          act: () => send('DELETE', member(one, 'Deaf/'), t('The member hears the conference.')),
        }
      : {
          label: t('Deafen'),
          act: () => send('POST', member(one, 'Deaf/'), t('The member hears nothing.'), {}),
        },
    ...audio.actions(member(one, '')),
    {
      label: t('Remove from conference'),
      act: () => send('POST', member(one, 'Kick/'), t('Removed.'), {}),
    },
    {
      label: t('Hang up'),
      act: () => send('DELETE', member(one, ''), t('The call has ended.')),
      isDanger: true,
    },
  ];
  const members = rows(row['members']);
  return (
    <Card
      title={name}
      unit={t('{n} members, {time}', {
        n: members.length,
        time: clock(Number(row['conference_run_time'])),
      })}
      flush
      actions={
        may('change') && (
          <>
            <button
              type="button"
              class="btn"
              onClick={() => void send('POST', 'Record/', t('The recording has started.'), {})}
            >
              {t('Start recording')}
            </button>
            <button
              type="button"
              class="btn"
              onClick={() => void send('DELETE', 'Record/', t('The recording has stopped.'))}
            >
              {t('Stop recording')}
            </button>
            <button type="button" class="btn danger" onClick={() => void end(name)}>
              {t('End for all')}
            </button>
          </>
        )
      }
    >
      <Problem text={problem} />
      {audio.form}
      <Table
        name={t('Members of {name}', { name })}
        rows={members}
        keyOf={(one) => text(one['member_id'])}
        empty={t('No members.')}
        columns={[
          {
            title: t('Call'),
            value: (one) => <CallLink uuid={one['call_uuid']} from={one['from']} to={one['to']} />,
          },
          { title: t('Name'), value: (one) => text(one['caller_name']), isMinor: true },
          {
            title: t('State'),
            value: (one) => (
              <span class="row">
                {one['muted'] === true && <Badge tone="fair">{t('Muted')}</Badge>}
                {one['deaf'] === true && <Badge tone="fair">{t('Deaf')}</Badge>}
                {one['muted'] !== true && one['deaf'] !== true && (
                  <Badge tone="good">{t('Speaking and hearing')}</Badge>
                )}
              </span>
            ),
          },
          { title: t('Time'), value: (one) => clock(Number(one['join_time'])), isNumber: true },
          {
            title: t('Actions'),
            isActions: true,
            need: 'change',
            value: (one) => <Actions of={actions(one)} name={text(one['from'])} />,
          },
        ]}
      />
    </Card>
  );
}

function Party({ root, row, again }: RoomProps) {
  const name = text(row['friendly_name']);
  const { problem, send, end } = useRoom(`${root}uuid_${text(row['mpc_uuid'])}/`, again);
  const members = rows(row['members']).filter((one) => one['exit_time'] == null);
  const toggle = (
    one: Row,
    field: 'mute' | 'hold' | 'coach_mode',
    on: string,
    off: string,
  ): Action => ({
    label: one[field] === true ? off : on,
    act: () =>
      send('POST', `Participant/${text(one['member_id'])}/`, one[field] === true ? off : on, {
        [field]: one[field] !== true,
      }),
  });
  const isRecording = row['recording'] === 'recording';
  return (
    <Card
      title={name}
      unit={t('{state}, {n} members, {time}', {
        state: text(row['status']),
        n: members.length,
        time: clock(Number(row['duration'])),
      })}
      flush
      actions={
        may('change') && (
          <>
            <button
              type="button"
              class="btn"
              onClick={() =>
                void send(
                  isRecording ? 'DELETE' : 'POST',
                  'Record/',
                  isRecording ? t('The recording has stopped.') : t('The recording has started.'),
                  isRecording ? undefined : {},
                )
              }
            >
              {isRecording ? t('Stop recording') : t('Start recording')}
            </button>
            <button type="button" class="btn danger" onClick={() => void end(name)}>
              {t('End for all')}
            </button>
          </>
        )
      }
    >
      <Problem text={problem} />
      <Table
        name={t('Members of {name}', { name })}
        rows={members}
        keyOf={(one) => text(one['member_id'])}
        empty={t('No members.')}
        columns={[
          {
            title: t('Call'),
            value: (one) => <CallLink uuid={one['call_uuid']} from={one['from']} to={one['to']} />,
          },
          { title: t('Role'), value: (one) => text(one['role']), sort: (one) => text(one['role']) },
          {
            title: t('State'),
            value: (one) => (
              <span class="row">
                {one['mute'] === true && <Badge tone="fair">{t('Muted')}</Badge>}
                {one['hold'] === true && <Badge tone="info">{t('On hold')}</Badge>}
                {one['coach_mode'] === true && <Badge tone="info">{t('Coaching')}</Badge>}
                {one['mute'] !== true && one['hold'] !== true && (
                  <Badge tone="good">{t('Connected')}</Badge>
                )}
              </span>
            ),
          },
          { title: t('Time'), value: (one) => clock(Number(one['duration'])), isNumber: true },
          {
            title: t('Actions'),
            isActions: true,
            need: 'change',
            value: (one) => (
              <Actions
                name={text(one['from'])}
                of={[
                  toggle(one, 'mute', t('Mute'), t('Unmute')),
                  toggle(one, 'hold', t('Hold'), t('Resume')),
                  {
                    ...toggle(one, 'coach_mode', t('Start coaching'), t('Stop coaching')),
                    isShown: text(one['role']).toLowerCase() === 'supervisor',
                  },
                  {
                    label: t('Remove from call'),
                    act: () =>
                      send('DELETE', `Participant/${text(one['member_id'])}/`, t('Removed.')),
                    isDanger: true,
                  },
                ]}
              />
            ),
          },
        ]}
      />
    </Card>
  );
}
