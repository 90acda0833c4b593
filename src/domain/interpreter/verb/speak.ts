import type { SpeakInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import type { VerbContext } from '../needs.ts';
import { NEXT, type VerbOutcome } from '../outcome.ts';
import { speakTo } from '../sound.ts';

/** `Speak` (dialect §2.1). Without a synthesizer, logs a warning and continues. */
export async function speak(
  instruction: SpeakInstruction,
  context: VerbContext,
): Promise<VerbOutcome> {
  await context.ready();
  if (instruction.text === '') return NEXT;
  const { signal } = context;
  await speakTo(context.call, context.needs, instruction, { signal, loop: instruction.loop });
  return NEXT;
}
