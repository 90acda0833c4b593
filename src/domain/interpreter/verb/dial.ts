import type { DialInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import { keepLiveDial } from '../dial/dial-of.ts';
import { actionParameters, type DialResult, endOf, resultOfFailure } from '../dial/dial-result.ts';
import { dialEnded, turnToDial } from '../dial/pace.ts';
import { DialSession } from '../dial/session.ts';
import type { VerbContext } from '../needs.ts';
import { concludeAction, type Refusal, tellInterrupted, type VerbOutcome } from '../outcome.ts';

const ACTION_EVENT = 'DialAction';

/**
 * `Dial` (spec, Answer-XML instructions; dialect §2.1): rings all destinations, connects the first that answers, and
 * ends with that leg. If the caller hangs up first, the legs end too and `action` gets the result. An unanswered caller
 * is answered together with the called party (decisions: Dial does not answer).
 */
export async function dial(
  instruction: DialInstruction,
  context: VerbContext,
): Promise<VerbOutcome> {
  const isRepeated = await turnOf(instruction, context);
  const session = new DialSession(instruction, context, { isRepeated });
  const forget = keepLiveDial(context.call, session);
  try {
    const result = await session.run();
    dialEnded(context.call, result.status === 'completed');
    return conclude(instruction, context, { result, isTransferred: session.isTransferred });
  } catch (error) {
    await session.abandon();
    await interrupted(instruction, context, session.result());
    throw error;
  } finally {
    forget();
  }
}

/** Waits until the call may dial; see `turnToDial`. */
async function turnOf(instruction: DialInstruction, context: VerbContext): Promise<boolean> {
  try {
    if (context.needs.settings.answerBeforeDial) await context.ready();
    return await turnToDial(context);
  } catch (error) {
    await interrupted(instruction, context, resultOfFailure([], []));
    throw error;
  }
}

/**
 * Without `action`, fetches the answer URL again, regardless of `redirect` (spec, Dial; decisions, "Dial at its end").
 * After a transfer by REFER, continues with the next element instead, because the parties changed.
 */
function conclude(
  instruction: DialInstruction,
  context: VerbContext,
  { result, isTransferred }: { readonly result: DialResult; readonly isTransferred: boolean },
): VerbOutcome {
  const { call } = context;
  call.log.add('call', `Dial ended: ${result.status}`, {
    bLegUuid: result.leg?.call.uuid,
    reason: result.unplaced?.detail,
  });
  const { action: url, method, redirect } = instruction;
  const refusal = call.isAnswered ? undefined : refusalOf(result);
  if (url === undefined) return { kind: isTransferred ? 'next' : 'refetch', refusal };
  const own = actionParameters(result, context);
  const outcome = concludeAction(context, { url, method, redirect }, ACTION_EVENT, own);
  return { ...outcome, refusal };
}

function refusalOf(result: DialResult): Refusal {
  const { cause, source = 'Platform', detail } = endOf(result);
  return { cause, source, detail };
}

/** Notifies `action` of an interrupted Dial. */
async function interrupted(
  { action: url, method }: DialInstruction,
  context: VerbContext,
  result: DialResult,
): Promise<void> {
  if (url === undefined) return;
  const own = actionParameters(result, context);
  await tellInterrupted(context, { url, method }, ACTION_EVENT, own);
}
