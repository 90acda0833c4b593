/** Consent of members whose documents record their conference. */
import { mayKeepAudio } from '../../call/types.ts';
import type { Member } from './member.ts';

type Asking = Pick<Member, 'context' | 'instruction'>;

/** Whether the document of this member wants a recording of the room, and the member has not refused its consent. */
export const mayRecord = ({ instruction, context }: Asking): boolean =>
  instruction.record && mayKeepAudio(context.call).ok;

/** Logs if a member that wants a recording has not agreed to it. */
export function noteRefusal({ context: { call } }: Asking): void {
  const agreed = mayKeepAudio(call);
  if (!agreed.ok) call.log.add('warning', 'conference not recorded', { ...agreed.error });
}
