import { unlessAborted } from '../../../base/abort.ts';
import type { ConferenceInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import type { CallbackParameters } from '../../callback/types.ts';
import { notify, parametersOf } from '../call-callbacks.ts';
import { namesOf } from '../conference/conference-events.ts';
import type { Participation, VerbContext } from '../needs.ts';
import { concludeAction, NEXT, type VerbOutcome } from '../outcome.ts';

const ACTION_EVENT = 'ConferenceAction';

/**
 * `Conference` (dialect §2.1): keeps the call in the room until it leaves, is removed or ends. Unlike with other
 * services, `action` is always called afterwards.
 */
export async function conference(
  instruction: ConferenceInstruction,
  context: VerbContext,
): Promise<VerbOutcome> {
  await context.ready();
  context.signal.throwIfAborted();
  const { call, needs } = context;
  const entered = await needs.conferences.enter(instruction, context);
  if (entered === undefined) {
    const { room: name, maxMembers } = instruction;
    call.log.add('warning', 'conference is full', { name, maxMembers });
    return NEXT;
  }
  const { action: url, method, redirect } = instruction;
  try {
    await unlessAborted(context.signal, entered.member.left);
  } catch (error) {
    await entered.leave();
    if (url !== undefined) {
      const parameters = parametersOf(call, ACTION_EVENT, actionParameters(entered));
      notify(context, ACTION_EVENT, { url, method }, parameters);
    }
    throw error;
  }
  if (url === undefined) return NEXT;
  const own = actionParameters(entered);
  return concludeAction(context, { url, method, redirect }, ACTION_EVENT, own);
}

function actionParameters({ room, member }: Participation): CallbackParameters {
  const { recording } = room;
  const names = namesOf(room, member.id);
  if (recording === undefined) return names;
  return [
    ...names,
    ['RecordUrl', recording.url],
    ['RecordFile', recording.url],
    ['RecordingID', recording.recordingId],
  ];
}
