/** Describes rooms for the REST API. */
import type { Clock } from '../../../base/clock.ts';
import type { Conference } from '../../dispatch/types.ts';
import { describedMember } from './described-member.ts';
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
