/** Shapes of multi-party calls (dialect §2.1 MultiPartyCall). */
import type { AccountId } from '../../../base/ids.ts';
import { dateTimeMicros } from '../../../base/time-format.ts';
import type {
  CallControl,
  Conference,
  ConferenceMember,
  PartyEndCause,
} from '../../../domain/dispatch/types.ts';
import {
  accountIdText,
  flag,
  headerText,
  httpMethod,
  nullableInteger,
  nullableText,
  oneOf,
  optionalHttpUrl,
  type Static,
  Type,
} from '../http/schema.ts';

export const MPC_ROOT = '/api/v1/Account/{auth_id}/MultiPartyCall/';
export const MPC_ONE = `${MPC_ROOT}{mpc_id}/`;
export const PARTICIPANTS = `${MPC_ONE}Participant/`;
export const common = {
  tag: 'Multi-party calls',
  errors: 'resource',
  mainAccountOnly: true,
} as const;
const mpcId = () => Type.String({ description: 'uuid_ and the UUID, or name_ and the name' });
export const accountParams = Type.Object({ auth_id: accountIdText() });
export const params = Type.Object({ auth_id: accountIdText(), mpc_id: mpcId() });
export const participantParams = Type.Object({
  auth_id: accountIdText(),
  mpc_id: mpcId(),
  participant_id: Type.String({ description: 'member id or call UUID' }),
});

/** Time as `YYYY-MM-DD HH:MM:SS.ffffff+00:00`. */
const time = nullableText;
const recordingState = () => oneOf(['not-recording', 'recording', 'paused']);

export const MpcSchema = Type.Object({
  friendly_name: Type.String(),
  mpc_uuid: Type.String(),
  status: oneOf(['Initialized', 'Active', 'Ended']),
  duration: Type.Integer({ description: 'seconds, also for a running call' }),
  participant_count: Type.Integer({ description: 'number of current members' }),
  participants: Type.String({ description: 'path of its members' }),
  recording: recordingState(),
  creation_time: time(),
  start_time: time(),
  end_time: time(),
  termination_cause: nullableText(),
  termination_cause_code: nullableInteger(),
  resource_uri: Type.String(),
});
export const ParticipantSchema = Type.Object({
  member_id: Type.String(),
  mpc_uuid: Type.String(),
  call_uuid: Type.String(),
  role: Type.String(),
  from: Type.String(),
  to: Type.String(),
  direction: Type.String(),
  mute: Type.Boolean(),
  hold: Type.Boolean(),
  coach_mode: Type.Boolean(),
  recording: recordingState(),
  start_mpc_on_enter: Type.Boolean(),
  end_mpc_on_exit: Type.Boolean(),
  duration: Type.Integer({ description: 'seconds in it' }),
  join_time: time(),
  exit_time: time(),
  exit_cause: nullableText(),
  resource_uri: Type.String(),
});

/** Code and text of each termination cause (docs.plivo.com, Retrieve all multiparty calls). */
const TERMINATION = {
  empty: [1000, 'No Active Participants'],
  alone: [1010, 'Stay Alone Not Permitted'],
  maxDuration: [2000, 'Max Duration Reached'],
  api: [3000, 'Hangup API Triggered'],
} as const satisfies Record<PartyEndCause, readonly [number, string]>;

/** Reasons why a member has left. Other reasons are returned unchanged. */
const EXIT: Readonly<Record<string, string>> = {
  callOver: 'Participant Call Hangup',
  kicked: 'Kicked Out Of MPC',
  alone: 'Stay Alone Not Permitted',
  roomEnded: 'MPC Ended',
  timeLimit: 'Max Duration Reached',
};

const timeOf = (us: number | undefined): string | null =>
  us === undefined ? null : `${dateTimeMicros(us)}+00:00`;

export function statusOf({ hasBegun, party }: Conference): 'Initialized' | 'Active' | 'Ended' {
  if (party?.endedUs !== undefined) return 'Ended';
  return hasBegun ? 'Active' : 'Initialized';
}

export function showMpc(mpc: Conference, authId: string): Static<typeof MpcSchema> {
  const { party } = mpc;
  const [code, cause] = party?.cause === undefined ? [null, null] : TERMINATION[party.cause];
  const uri = `/v1/Account/${authId}/MultiPartyCall/uuid_${mpc.uuid}/`;
  return {
    friendly_name: mpc.name,
    mpc_uuid: mpc.uuid,
    status: statusOf(mpc),
    duration: Math.round(mpc.runningMs / 1000),
    participant_count: mpc.members.length,
    participants: `${uri}Participant/`,
    recording: party?.recording ?? 'not-recording',
    creation_time: timeOf(party?.createdUs),
    start_time: timeOf(party?.startedUs),
    end_time: timeOf(party?.endedUs),
    termination_cause: cause,
    termination_cause_code: code,
    resource_uri: uri,
  };
}

export function showParticipant(
  mpc: Conference,
  { party, ...member }: ConferenceMember,
  authId: string,
): Static<typeof ParticipantSchema> {
  const left = party?.leftBecause;
  return {
    member_id: member.memberId,
    mpc_uuid: mpc.uuid,
    call_uuid: member.callUuid,
    role: party?.role ?? '',
    from: member.from,
    to: member.to,
    direction: member.direction,
    mute: member.muted,
    hold: party?.onHold ?? false,
    coach_mode: party?.coaching ?? false,
    recording: party?.recording ?? 'not-recording',
    start_mpc_on_enter: party?.startsOnEnter ?? true,
    end_mpc_on_exit: party?.endsOnExit ?? false,
    duration: Math.round(member.inRoomMs / 1000),
    join_time: timeOf(party?.joinedUs),
    exit_time: timeOf(party?.leftUs),
    exit_cause: left === undefined ? null : (EXIT[left] ?? left),
    resource_uri: `/v1/Account/${authId}/MultiPartyCall/uuid_${mpc.uuid}/Participant/${member.memberId}/`,
  };
}

/** Returns the current members, then those who have left. */
export const membersOf = (mpc: Conference): readonly ConferenceMember[] => [
  ...mpc.members,
  ...(mpc.party?.former ?? []),
];

export const NOT_FOUND = { kind: 'notFound', what: 'conference' } as const;

export function findMpc(all: readonly Conference[], id: string): Conference | undefined {
  const [, kind, value = ''] = /^(uuid|name)_(.*)$/s.exec(id) ?? [];
  return all.find((mpc) =>
    kind === 'uuid' ? mpc.uuid === value.toLowerCase() : kind === 'name' && mpc.name === value,
  );
}

/** Returns the running call with this name, else the latest that has ended. */
export const anyMpc = async (
  control: Pick<CallControl, 'multiPartyCalls' | 'endedMultiPartyCalls'>,
  accountId: AccountId,
  id: string,
): Promise<Conference | undefined> =>
  findMpc(await control.multiPartyCalls(accountId), id) ??
  findMpc(await control.endedMultiPartyCalls(accountId), id);

export const member = (mpc: Conference | undefined, id: string): ConferenceMember | undefined =>
  (mpc === undefined ? [] : membersOf(mpc)).find(
    ({ memberId, callUuid }) => memberId === id || callUuid === id.toLowerCase(),
  );

export const AddBody = Type.Object({
  role: oneOf(['agent', 'supervisor', 'customer', 'Agent', 'Supervisor', 'Customer']),
  from: Type.Optional(headerText({ maxLength: 512 })),
  to: Type.Optional(Type.String({ description: 'several separated by <' })),
  call_uuid: Type.Optional(Type.String()),
  caller_name: Type.Optional(headerText({ maxLength: 50 })),
  call_status_callback_url: Type.Optional(optionalHttpUrl()),
  call_status_callback_method: Type.Optional(httpMethod()),
  ring_timeout: Type.Optional(
    Type.Union([Type.Integer({ minimum: 1, maximum: 600 }), Type.String()]),
  ),
  max_duration: Type.Optional(Type.Integer()),
  max_participants: Type.Optional(Type.Integer()),
  wait_music_url: Type.Optional(optionalHttpUrl()),
  agent_hold_music_url: Type.Optional(optionalHttpUrl()),
  customer_hold_music_url: Type.Optional(optionalHttpUrl()),
  status_callback_url: Type.Optional(optionalHttpUrl()),
  status_callback_events: Type.Optional(Type.String()),
  recording_callback_url: Type.Optional(optionalHttpUrl()),
  on_exit_action_url: Type.Optional(optionalHttpUrl()),
  record: Type.Optional(flag(false)),
  record_file_format: Type.Optional(oneOf(['mp3', 'wav'])),
  coach_mode: Type.Optional(flag(true)),
  mute: Type.Optional(flag(false)),
  hold: Type.Optional(flag(false)),
  stay_alone: Type.Optional(flag(false)),
  start_mpc_on_enter: Type.Optional(flag(true)),
  end_mpc_on_exit: Type.Optional(flag(false)),
  relay_dtmf_inputs: Type.Optional(flag(false)),
  enter_sound: Type.Optional(Type.String({ maxLength: 2000 })),
  exit_sound: Type.Optional(Type.String({ maxLength: 2000 })),
});

/** Maps request fields to attributes of the element. */
const ATTRIBUTES = {
  max_duration: 'maxDuration',
  max_participants: 'maxParticipants',
  wait_music_url: 'waitMusicUrl',
  agent_hold_music_url: 'agentHoldMusicUrl',
  customer_hold_music_url: 'customerHoldMusicUrl',
  status_callback_url: 'statusCallbackUrl',
  status_callback_events: 'statusCallbackEvents',
  recording_callback_url: 'recordingCallbackUrl',
  on_exit_action_url: 'onExitActionUrl',
  record: 'record',
  record_file_format: 'recordFileFormat',
  coach_mode: 'coachMode',
  mute: 'mute',
  hold: 'hold',
  stay_alone: 'stayAlone',
  start_mpc_on_enter: 'startMpcOnEnter',
  end_mpc_on_exit: 'endMpcOnExit',
  relay_dtmf_inputs: 'relayDTMFInputs',
  enter_sound: 'enterSound',
  exit_sound: 'exitSound',
} as const satisfies Partial<Record<keyof Static<typeof AddBody>, string>>;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

export function elementOf(name: string, body: Static<typeof AddBody>): string {
  const attributes = Object.entries(ATTRIBUTES).flatMap(([field, attribute]) => {
    const value = body[field as keyof typeof ATTRIBUTES];
    return value === undefined || value === '' ? [] : [`${attribute}="${escaped(String(value))}"`];
  });
  return `<MultiPartyCall role="${body.role.toLowerCase()}" ${attributes.join(' ')}>${escaped(name)}</MultiPartyCall>`;
}
