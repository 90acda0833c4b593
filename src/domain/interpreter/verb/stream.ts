import { unlessAborted } from '../../../base/abort.ts';
import type { StreamInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import { openAudioStream } from '../audio-stream.ts';
import type { VerbContext } from '../needs.ts';
import { NEXT, type VerbOutcome } from '../outcome.ts';

/**
 * `Stream` (spec: Stream element rules). With keepCallAlive the document waits for the stream's end, and the stream ends
 * when the document is replaced; without it the stream lives on in the background, transfers included (decisions.md).
 */
export async function stream(
  instruction: StreamInstruction,
  context: VerbContext,
): Promise<VerbOutcome> {
  await context.ready();
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
    // Pressed for the bot, not for what follows.
    context.call.digits.takeAhead();
  }
  return NEXT;
}
