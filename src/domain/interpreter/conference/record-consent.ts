/** Consent of the members of a conference to recordings and streams. */
import { agreementOf } from '../../call/types.ts';
import { hearEachOther } from '../kept-audio.ts';
import type { Member } from './member.ts';

type Asking = Pick<Member, 'context' | 'instruction'>;

/** Whether the document of this member wants a recording of the room, and the member has not refused its consent. */
export const mayRecord = ({ instruction, context }: Asking): boolean =>
  instruction.record && agreementOf(context.call).ok;

/** Logs if a member that wants a recording has not agreed to it. */
export function noteRefusal({ context: { call } }: Asking): void {
  const agreed = agreementOf(call);
  if (!agreed.ok) call.log.add('warning', 'conference not recorded', { ...agreed.error });
}

/** The other members hear a new one. If one of them has not agreed, their own recordings and streams end. */
export function heardBy(others: readonly Member[], member: Member): void {
  const { call, needs } = member.context;
  for (const other of others) {
    const { call: heard } = other.context;
    if (agreementOf(call).ok && agreementOf(heard).ok) continue;
    const undo = hearEachOther(call, heard, needs);
    for (const either of [member, other]) either.atLeaving(undo);
  }
}
