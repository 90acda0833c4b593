import type { HangupInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import { endAt } from '../../call/call.ts';
import type { VerbContext } from '../needs.ts';
import { NEXT, type VerbOutcome } from '../outcome.ts';

/**
 * `Hangup`. An unanswered inbound call is refused, even after PreAnswer: with `busy` or (default) `rejected`. With
 * `schedule`, the document continues and the call ends later (dialect §2.1).
 */
export function hangup(instruction: HangupInstruction, { call, needs }: VerbContext): VerbOutcome {
  if (instruction.scheduleMs !== undefined) {
    const { clock } = needs;
    const atMs = clock.monotonicMs() + instruction.scheduleMs;
    endAt(call, clock, { atMs, cause: 'scheduled', source: 'Answer XML' });
    return NEXT;
  }
  const refuses = call.answerUs === undefined && call.facts.direction === 'inbound';
  const refusal = instruction.reason === 'busy' ? 'busy' : 'rejected';
  return { kind: 'hangup', cause: refuses ? refusal : 'normal', source: 'Answer XML' };
}
