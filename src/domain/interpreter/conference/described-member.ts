/** Describes conference members for the REST API. */
import type { Clock } from '../../../base/clock.ts';
import type { ConferenceMember } from '../../dispatch/types.ts';
import type { Member } from './member.ts';

export function describedMember(member: Member, clock: Clock): ConferenceMember {
  const { id, context, muted, deaf, joinedMs, instruction } = member;
  const { facts, uuid: callUuid } = context.call;
  const { from, to, callerName, direction } = facts;
  const inRoomMs = clock.monotonicMs() - joinedMs;
  const rules = instruction.party;
  return {
    memberId: id,
    callUuid,
    from,
    to,
    callerName,
    direction,
    muted,
    deaf,
    inRoomMs,
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
