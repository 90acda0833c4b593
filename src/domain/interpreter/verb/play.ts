import type { PlayInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import type { VerbContext } from '../needs.ts';
import { NEXT, type VerbOutcome } from '../outcome.ts';
import { playTo } from '../sound.ts';

/** `Play` (dialect §2.1). Skips a file that cannot be loaded. */
export async function play(
  instruction: PlayInstruction,
  context: VerbContext,
): Promise<VerbOutcome> {
  await context.ready();
  const { url, loop } = instruction;
  await playTo(context.call, context.needs, url, { signal: context.signal, loop });
  return NEXT;
}
