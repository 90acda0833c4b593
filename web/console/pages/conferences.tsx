import { get, getIfAny, type Row, rows, text } from '../api.ts';
import { clock } from '../format.ts';
import { useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import type { PageProps } from '../page-props.ts';
import { href } from '../place.ts';
import { t } from '../text.ts';
import { type Action, confirmed } from '../ui/overlay.tsx';
import { Card, Cut, Empty, Head, LoadProblem, Problem } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { useMemberAudio } from './member-audio.tsx';
import { AddParticipant, Party } from './party.tsx';
import { membersText, Room, useRoom } from './room.tsx';

const EVERY_MS = 2000;
/** Maximum number of conferences, and of multi-party calls, on the page. */
const ROOMS_MAX = 50;

/** Running conferences with their members. */
const useConferences = (root: string, account: string) =>
  useLoad(
    account,
    async () => {
      const names = (await get(`${root}/Conference/`))['conferences'];
      const all = Array.isArray(names) ? names.map(text) : [];
      // A conference may end between the two requests.
      const each = all
        .slice(0, ROOMS_MAX)
        .map((name) => getIfAny(`${root}/Conference/${encodeURIComponent(name)}/`));
      const shown = (await Promise.all(each)).filter((one) => one !== undefined);
      return { shown, total: all.length };
    },
    EVERY_MS,
  );

/** Multi-party calls, the running ones with their members. */
const useParties = (root: string, account: string) =>
  useLoad(
    `${account} parties`,
    async () => {
      const all = rows((await get(`${root}/MultiPartyCall/`))['objects']);
      const shown = await Promise.all(
        all.slice(0, ROOMS_MAX).map(async (one): Promise<Row> => {
          if (one['status'] === 'Ended') return one;
          const path = `${root}/MultiPartyCall/uuid_${text(one['mpc_uuid'])}/Participant/`;
          const members = await getIfAny(path);
          return { ...one, members: rows(members?.['objects']) };
        }),
      );
      return { shown, total: all.length };
    },
    EVERY_MS,
  );

/** Ends all conferences after a confirmation. */
function useEndAll(root: string, again: () => void) {
  const { problem, send } = useRoom(`${root}/Conference/`, again);
  const endAll = async () => {
    const isSure = await confirmed({
      title: t('End all conferences?'),
      detail: t('The calls of all members end. Multi-party calls continue.'),
      action: t('End all conferences'),
    });
    if (isSure) await send('DELETE', '', t('All conferences have ended.'));
  };
  return { problem, endAll };
}

/** Running conferences and multi-party calls with their members. */
export function Conferences({ account }: PageProps) {
  const root = `/api/v1/Account/${account}`;
  const found = useConferences(root, account);
  const parties = useParties(root, account);
  const { problem, endAll } = useEndAll(root, found.again);
  const running = parties.value?.shown.filter((one) => one['status'] !== 'Ended');
  const ended = parties.value?.shown.filter((one) => one['status'] === 'Ended');
  return (
    <>
      <Head
        title={t('Conferences')}
        about={t(
          'Conferences and multi-party calls with their members. The page updates every two seconds.',
        )}
      >
        <AddParticipant root={`${root}/MultiPartyCall/`} done={parties.again} />
        {found.value !== undefined && found.value.total > 1 && may('change') && (
          <button type="button" class="btn danger" onClick={() => void endAll()}>
            {t('End all conferences')}
          </button>
        )}
      </Head>
      <Problem text={problem} />
      <LoadProblem of={found} />
      <LoadProblem of={parties} />
      {found.value?.total === 0 && running?.length === 0 && <NothingRunning />}
      <Cut name={t('Conferences')} most={ROOMS_MAX} total={found.value?.total} />
      <Cut name={t('Multi-party calls')} most={ROOMS_MAX} total={parties.value?.total} />
      {found.value?.shown.map((one) => (
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
      {ended !== undefined && ended.length > 0 && <EndedParties of={ended} />}
    </>
  );
}

const NothingRunning = () => (
  <Empty title={t('No conference is running.')}>
    <p>{t('A conference starts when a call runs a Conference or MultiPartyCall element.')}</p>
    <a class="btn" href={href('playground')}>
      {t('Open playground')}
    </a>
  </Empty>
);

const ENDED_COLUMNS: readonly Column[] = [
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
];

const EndedParties = ({ of: ended }: { readonly of: readonly Row[] }) => (
  <Card title={t('Ended multi-party calls')} flush>
    <Table
      name={t('Ended multi-party calls')}
      rows={ended}
      keyOf={(row) => text(row['mpc_uuid'])}
      empty=""
      columns={ENDED_COLUMNS}
    />
  </Card>
);

interface Props {
  readonly root: string;
  readonly row: Row;
  readonly again: () => void;
}

function Conference({ root, row, again }: Props) {
  const name = text(row['conference_name']);
  const { problem, send } = useRoom(`${root}${encodeURIComponent(name)}/`, again);
  const member = (one: Row, to: string) => `Member/${text(one['member_id'])}/${to}`;
  const audio = useMemberAudio(send, { speaks: true });
  const actionsOf = (one: Row): readonly Action[] => [
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
    <Room
      name={name}
      unit={`${membersText(members.length)}, ${clock(Number(row['conference_run_time']))}`}
      members={members}
      send={send}
      problem={problem}
      actions={[
        {
          label: t('Start recording'),
          act: () => send('POST', 'Record/', t('The recording has started.'), {}),
        },
        {
          label: t('Stop recording'),
          act: () => send('DELETE', 'Record/', t('The recording has stopped.')),
        },
      ]}
      second={{ title: t('Name'), value: (one) => text(one['caller_name']), isMinor: true }}
      statesOf={(one) => [
        one['muted'] === true && ['fair', t('Muted')],
        one['deaf'] === true && ['fair', t('Deaf')],
        one['muted'] !== true && one['deaf'] !== true && ['good', t('Speaking and hearing')],
      ]}
      timeOf={(one) => clock(Number(one['join_time']))}
      actionsOf={actionsOf}
    >
      {audio.form}
    </Room>
  );
}
