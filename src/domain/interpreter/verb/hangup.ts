import type { HangupInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import { NEXT, type VerbContext, type VerbOutcome } from '../context.ts';

/**
 * `Hangup`. As the first element of a call that is not answered it refuses the call, with `busy` or (default)
 * `rejected`; with `schedule` the document goes on and the call ends later (dialect §2.1).
 */
export function hangup(
  instruction: HangupInstruction,
  { call, needs }: VerbContext,
  isFirst: boolean,
): VerbOutcome {
  if (instruction.scheduleMs !== undefined) {
    const { clock } = needs;
    const cancel = clock.at(clock.monotonicMs() + instruction.scheduleMs, () => {
      call.hangup('scheduled', 'Answer XML');
    });
    call.signal.addEventListener('abort', cancel, { once: true });
    return NEXT;
  }
  const refuses = isFirst && call.answerUs === undefined && call.facts.direction === 'inbound';
  const refusal = instruction.reason === 'busy' ? 'busy' : 'rejected';
  return { kind: 'hangup', cause: refuses ? refusal : 'normal', source: 'Answer XML' };
}
