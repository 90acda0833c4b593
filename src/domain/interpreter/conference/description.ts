/** Rooms and members as the REST interface is told of them. */
import type { Clock } from '../../../base/clock.ts';
import type { Conference, ConferenceMember } from '../../dispatch/types.ts';
import type { Member } from './member.ts';
import type { Room } from './room.ts';

export function describedRoom(room: Room, clock: Clock): Conference {
  const { uuid, name, history, recordings } = room;
  const parts = {
    uuid,
    name,
    runningMs: clock.monotonicMs() - room.startedMs,
    hasBegun: room.hasBegun,
    members: room.members.map((member) => describedMember(member, clock)),
  };
  const { createdUs, startedUs, former } = history;
  return { ...parts, party: { createdUs, startedUs, recording: recordings.state, former } };
}

export function describedMember(member: Member, clock: Clock): ConferenceMember {
  const { id, context, muted, deaf, joinedMs, instruction } = member;
  const { facts, uuid: callUuid } = context.call;
  const { from, to, callerName, direction } = facts;
  const inRoomMs = clock.monotonicMs() - joinedMs;
  const rules = instruction.party;
  return {
    ...{ memberId: id, callUuid, from, to, callerName, direction, muted, deaf, inRoomMs },
    ...(rules && {
      party: {
        role: rules.role,
        onHold: member.onHold,
        coaching: member.coaching,
        recording: member.recording.state,
        joinedUs: Math.round((clock.wallMs() - inRoomMs) * 1000),
        startsOnEnter: instruction.startConferenceOnEnter,
        endsOnExit: instruction.endConferenceOnExit,
      },
    }),
  };
}
