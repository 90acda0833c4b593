/** REST API operations on a multi-party call and its members. */
import { assertNever } from '../../../base/errors.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import type {
  ControlRefusal,
  PartyAction,
  RecordRequest,
  StartedRecording,
} from '../../dispatch/types.ts';
import { signerOf } from '../call-callbacks.ts';
import type { Member } from './member.ts';
import { changeParty } from './party.ts';
import { partyRecorded, recordingNames } from './party-events.ts';
import type { Room } from './room.ts';

type Done = Result<void, ControlRefusal>;
type Started = Promise<Result<StartedRecording, ControlRefusal>>;

const DONE: Done = ok(undefined);
const NO_MEMBER: ControlRefusal = { kind: 'notFound', what: 'member' };
const NOT_RECORDING: ControlRefusal = { kind: 'notFound', what: 'recording' };

/** Finds a member by its ID or its call's UUID. */
const memberOf = (room: Room, id: string): Member | undefined =>
  room.members.find((member) => member.id === id || member.context.call.uuid === id.toLowerCase());

export function actOnParty(room: Room, action: PartyAction): Done {
  if (action.kind === 'begin') {
    room.begin();
    return DONE;
  }
  if (action.kind === 'end') {
    room.history.endsBy('api');
    for (const { context } of room.members) context.call.hangup('normal', 'API Request');
    return DONE;
  }
  const member = action.member === undefined ? undefined : memberOf(room, action.member);
  if (action.member !== undefined && member === undefined) return err(NO_MEMBER);
  switch (action.kind) {
    case 'stopRecording':
      if (member === undefined) room.stopRecording();
      else member.recording.stop('API request');
      return DONE;
    case 'pauseRecording':
    case 'resumeRecording':
      return pause(room, member, action.kind === 'pauseRecording');
    default:
      return member === undefined ? err(NO_MEMBER) : actOnMember(room, member, action);
  }
}

function actOnMember(
  room: Room,
  member: Member,
  action: Extract<PartyAction, { kind: 'kick' | 'silence' | 'play' | 'member' }>,
): Done {
  switch (action.kind) {
    case 'kick':
      room.leave(member, 'kicked');
      return DONE;
    case 'play':
      member.hear(action);
      return DONE;
    case 'silence':
      member.silence('play');
      return DONE;
    case 'member':
      changeParty(room, member, action.change);
      return DONE;
    default:
      return assertNever(action);
  }
}

/** Pauses or resumes a recording and notifies its callback. */
function pause(room: Room, member: Member | undefined, isPaused: boolean): Done {
  const state = isPaused ? 'Paused' : 'Resumed';
  if (member !== undefined) {
    if (!member.recording.pause(isPaused)) return err(NOT_RECORDING);
    notify(room, member, `ParticipantRecording${state}`, member.recording.request?.callback);
    return DONE;
  }
  if (!room.recordings.pause(isPaused)) return err(NOT_RECORDING);
  const [first] = room.members;
  const target = room.recordings.request?.notice?.target;
  if (first !== undefined) notify(room, first, `MPCRecording${state}`, target, false);
  return DONE;
}

type Target = RecordRequest['callback'];

function notify(room: Room, member: Member, event: string, target: Target, isItsOwn = true): void {
  if (target === undefined) return;
  const { call, needs } = member.context;
  const { last } = isItsOwn ? member.recording : room.recordings;
  needs.callbacks.notify({
    accountId: signerOf(call),
    subject: isItsOwn ? call.uuid : room.uuid,
    event,
    target,
    parameters: [
      ...recordingNames(room, event, call.facts.parentAuthId),
      ...(isItsOwn ? ([['MemberID', member.id]] as const) : []),
      ...(last?.parameters() ?? []),
    ],
  });
}

/** Records the whole multi-party call, or with `of` one member: its voice only, or also the audio that it hears. */
export async function recordParty(
  room: Room,
  request: RecordRequest,
  of: { readonly id: string; readonly track: 'voice' | 'all' } | undefined,
): Started {
  if (of === undefined) return started(await room.record(wholeOf(room, request)));
  const member = memberOf(room, of.id);
  if (member === undefined) return err(NO_MEMBER);
  const sides = of.track === 'voice' ? 'peer' : 'both';
  return started(await member.recording.start({ ...request, sides }));
}

function wholeOf(room: Room, { format, maxMs, callback, transcription }: RecordRequest) {
  const [first] = room.members;
  return {
    accountId: room.accountId,
    currency: first?.context.call.price.currency ?? '',
    conferenceName: room.name,
    conferenceUuid: room.uuid,
    format,
    maxMs,
    transcription,
    notice: callback && {
      accountId: room.accountId,
      // The notification belongs to the multi-party call: it is ordered with that call's other notifications.
      subject: room.uuid,
      event: 'MPCRecord',
      target: callback,
      parameters: partyRecorded(room, first?.context.call.facts.parentAuthId ?? room.accountId),
    },
  };
}

const started = (
  outcome: Awaited<ReturnType<Room['record']>>,
): Result<StartedRecording, ControlRefusal> =>
  outcome.ok ? ok({ recordingId: outcome.value.recordingId, url: outcome.value.url }) : outcome;
