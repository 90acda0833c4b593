/** Callbacks of a multi-party call to its `statusCallbackUrl` (dialect §2.1 MultiPartyCall). */
import { partyParameter } from '../../callback/callback.ts';
import type { CallbackParameters } from '../../callback/types.ts';
import { signerOf } from '../call-callbacks.ts';
import type { RoomNames } from './conference-events.ts';
import type { Member } from './member.ts';

type Group =
  | 'mpc-state-changes'
  | 'participant-state-changes'
  | 'participant-speak-events'
  | 'participant-digit-input-events';

const GROUPS = {
  MPCInitialized: 'mpc-state-changes',
  MPCStarted: 'mpc-state-changes',
  MPCEnded: 'mpc-state-changes',
  ParticipantJoined: 'participant-state-changes',
  ParticipantLeft: 'participant-state-changes',
  ParticipantMuted: 'participant-state-changes',
  ParticipantUnmuted: 'participant-state-changes',
  ParticipantHold: 'participant-state-changes',
  ParticipantUnhold: 'participant-state-changes',
  ParticipantCoachModeOn: 'participant-state-changes',
  ParticipantCoachModeOff: 'participant-state-changes',
  ParticipantSpeaking: 'participant-speak-events',
  ParticipantDigitInput: 'participant-digit-input-events',
} as const satisfies Readonly<Record<string, Group>>;

export type PartyEvent = keyof typeof GROUPS;

/** Sends an event of a multi-party call. Members of a `Conference` have no such events. */
export function notifyParty(
  room: RoomNames,
  member: Member,
  event: PartyEvent,
  own: CallbackParameters = [],
): void {
  const { context, instruction, id } = member;
  const rules = instruction.party;
  if (rules?.statusCallback === undefined || !rules.events.has(GROUPS[event])) return;
  const { call, needs } = context;
  needs.callbacks.notify({
    accountId: signerOf(call),
    subject: call.uuid,
    event,
    target: rules.statusCallback,
    parameters: [
      ['Event', event],
      ['EventName', event],
      ['MPCName', room.name],
      ['MPCUUID', room.uuid],
      ['ParticipantUUID', id],
      ['MemberID', id],
      ['ParticipantRole', rules.role],
      ['ParticipantCallUUID', call.uuid],
      ['ParticipantCallDirection', call.facts.direction],
      ['ParticipantCallFrom', partyParameter(call.facts.from)],
      ['ParticipantCallTo', partyParameter(call.facts.to)],
      ['CallUUID', call.uuid],
      ['ParentAuthID', call.facts.parentAuthId],
      ...own,
    ],
  });
}

/** Parameters of all callbacks about recordings of a multi-party call. */
export const recordingNames = (
  room: RoomNames,
  event: string,
  parentAuthId: string,
): CallbackParameters => [
  ['Event', event],
  ['EventName', event],
  ['MPCName', room.name],
  ['MPCUUID', room.uuid],
  ['ParentAuthID', parentAuthId],
];

/** Parameters of the callback about a complete recording, without those of the recording. */
export const partyRecorded = (room: RoomNames, parentAuthId: string): CallbackParameters =>
  recordingNames(room, 'MPCRecordingCompleted', parentAuthId);
