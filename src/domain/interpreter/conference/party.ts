/** Multi-party features of a room: roles, hold and coaching. */

import { signerOf } from '../call-callbacks.ts';
import type { RoomRecordRequest } from '../recording/types.ts';
import type { SoundSource } from '../sound-url.ts';
import { type RoomNames, recordNotice } from './conference-events.ts';
import type { Member } from './member.ts';
import { notifyParty, partyRecorded } from './party-events.ts';

/** Requested changes to a member; undefined leaves a property unchanged. */
export interface PartyChange {
  readonly mute?: boolean | undefined;
  readonly hold?: boolean | undefined;
  readonly coachMode?: boolean | undefined;
}

interface PartyRoom extends RoomNames {
  source(url: string, method: 'GET' | 'POST', memberId: string): SoundSource;
}

/**
 * Applies the member's role and announces it. Agents hear coaching supervisors. Does nothing for members of a
 * `Conference`.
 */
export function enterParty(room: PartyRoom, member: Member, isFirst: boolean): void {
  const { party } = member.instruction;
  if (party === undefined) return;
  if (isFirst) notifyParty(room, member, 'MPCInitialized');
  if (party.role === 'agent') member.seat.set({ coached: true });
  if (party.role === 'supervisor' && party.coachMode) member.coach(true);
  notifyParty(room, member, 'ParticipantJoined');
  if (party.hold) member.hold(true, holdSound(room, member));
}

export function changeParty(room: PartyRoom, member: Member, change: PartyChange): void {
  const { party } = member.instruction;
  if (party === undefined) return;
  const { mute, hold, coachMode } = change;
  if (mute !== undefined && mute !== member.muted) {
    member.set({ muted: mute });
    notifyParty(room, member, mute ? 'ParticipantMuted' : 'ParticipantUnmuted');
  }
  if (hold !== undefined && hold !== member.onHold) {
    member.hold(hold, holdSound(room, member));
    notifyParty(room, member, hold ? 'ParticipantHold' : 'ParticipantUnhold');
  }
  if (coachMode !== undefined && party.role === 'supervisor' && coachMode !== member.coaching) {
    member.coach(coachMode);
    notifyParty(room, member, coachMode ? 'ParticipantCoachModeOn' : 'ParticipantCoachModeOff');
  }
}

/** Recipients of the room recording's notification and transcription. */
export function recordingReported(
  room: RoomNames,
  member: Member,
): Pick<RoomRecordRequest, 'notice' | 'transcription'> {
  const { instruction, context } = member;
  const { party } = instruction;
  const words = party?.transcription;
  const transcription = words && {
    callback: words.url === undefined ? undefined : { url: words.url, method: words.method },
  };
  const target = party?.recordingCallback;
  if (target === undefined) return { notice: recordNotice(room, member), transcription };
  const notice = {
    accountId: signerOf(context.call),
    subject: context.call.uuid,
    event: 'MPCRecord',
    target,
    parameters: partyRecorded(room, context.call.facts.parentAuthId),
  };
  return { notice, transcription };
}

function holdSound(room: PartyRoom, { instruction, id }: Member): SoundSource | undefined {
  const { party } = instruction;
  return party?.holdMusic === undefined
    ? undefined
    : room.source(party.holdMusic, party.holdMethod, id);
}
