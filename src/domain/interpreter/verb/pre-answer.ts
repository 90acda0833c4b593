import { noOperation } from '../../../base/no-operation.ts';
import type { Instruction, PreAnswerInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import type { VerbContext } from '../needs.ts';
import { NEXT, type VerbOutcome } from '../outcome.ts';

/** Maximum time in early media, in ms. After that, the rest of the document answers the call (dialect §2.1). */
const MAX_EARLY_MEDIA_MS = 30_000;

type Execute = (instruction: Instruction, context: VerbContext) => Promise<VerbOutcome>;

/** Abort reason when the early media limit is reached. */
class EarlyMediaOver extends Error {}

/**
 * `PreAnswer`: plays its children before the answer, as early media (183 with SDP, RFC 3960). On an answered call, the
 * children run normally and without a limit.
 */
export async function preAnswer(
  instruction: PreAnswerInstruction,
  context: VerbContext,
  execute: Execute,
): Promise<VerbOutcome> {
  const { call, needs, signal } = context;
  const isAnswered = call.isAnswered;
  if (!isAnswered) {
    const isEarly = await call.startEarlyMedia();
    signal.throwIfAborted();
    if (!isEarly) {
      call.log.add('warning', 'PreAnswer is skipped: early media is not possible on this call', {
        line: instruction.line,
      });
      return NEXT;
    }
  }
  const limit = new AbortController();
  const { clock } = needs;
  const cancel = isAnswered
    ? noOperation
    : clock.at(clock.monotonicMs() + MAX_EARLY_MEDIA_MS, () => limit.abort(new EarlyMediaOver()));
  try {
    return await runChildren(instruction, execute, {
      ...context,
      signal: AbortSignal.any([signal, limit.signal]),
      // Children play as early media and must not answer the call.
      ready: () => Promise.resolve(),
    });
  } catch (error) {
    if (!(error instanceof EarlyMediaOver) || signal.aborted) throw error;
    call.log.add('warning', `PreAnswer ended after ${MAX_EARLY_MEDIA_MS / 1000} s`, {
      line: instruction.line,
    });
    return NEXT;
  } finally {
    cancel();
  }
}

async function runChildren(
  instruction: PreAnswerInstruction,
  execute: Execute,
  context: VerbContext,
): Promise<VerbOutcome> {
  for (const child of instruction.children) {
    context.call.log.add('xml', child.kind, { line: child.line });
    const outcome = await execute(child, context);
    context.signal.throwIfAborted();
    if (outcome.kind !== 'next') return outcome;
  }
  return NEXT;
}
