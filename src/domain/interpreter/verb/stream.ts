import { unlessAborted } from '../../../base/abort.ts';
import type { StreamInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import { openAudioStream } from '../audio-stream.ts';
import { disclose } from '../disclosure.ts';
import type { VerbContext } from '../needs.ts';
import { NEXT, type VerbOutcome } from '../outcome.ts';

/**
 * `Stream` (spec: Stream element rules). With keepCallAlive, the document waits for the end of the stream, and
 * replacing the document ends the stream. Otherwise the stream continues in the background, even across transfers
 * (decisions.md).
 */
export async function stream(
  instruction: StreamInstruction,
  context: VerbContext,
): Promise<VerbOutcome> {
  await context.ready();
  if (instruction.disclosure !== undefined) await disclose(instruction.disclosure, context);
  const { statusCallbackUrl: url, statusCallbackMethod: method } = instruction;
  const opened = openAudioStream(
    context.call,
    { ...instruction, statusCallback: url === undefined ? undefined : { url, method } },
    context.needs,
  );
  if (opened === undefined || !instruction.keepCallAlive) return NEXT;
  try {
    await unlessAborted(context.signal, opened.ended);
  } finally {
    opened.stop(context.call.isEnded ? 'callEnded' : 'transferred');
    // Presses during the stream are for the bot and do not count as type-ahead.
    context.call.digits.takeAhead();
  }
  return NEXT;
}
