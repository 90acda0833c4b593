import { unlessAborted } from '../../../base/abort.ts';
import type { StreamInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import { openAudioStream } from '../audio-stream.ts';
import { disclose } from '../disclosure.ts';
import { HandOver } from '../hand-over.ts';
import type { VerbContext } from '../needs.ts';
import { NEXT, type VerbOutcome } from '../outcome.ts';
import type { AudioStreamRequest } from '../stream.ts';

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
  const request = {
    ...instruction,
    statusCallback: url === undefined ? undefined : { url, method },
  };
  let next: AudioStreamRequest | undefined = request;
  while (next !== undefined) {
    const failedTransfer = await oneStream(next, context);
    next = failedTransfer && { ...request, failedTransfer };
  }
  return NEXT;
}

/** Runs one stream until its end. Returns the failed transfer after which it is to open again. */
async function oneStream(
  request: AudioStreamRequest,
  context: VerbContext,
): Promise<AudioStreamRequest['failedTransfer']> {
  const opened = openAudioStream(context.call, request, context.needs);
  if (opened === undefined || !request.keepCallAlive) return undefined;
  const handOver = new HandOver(() => [opened], context);
  opened.onTransfer({
    begin: (transfer) => handOver.beginForBot(transfer),
    cancel: () => handOver.cancel(),
  });
  try {
    await unlessAborted(context.signal, opened.ended);
    // A transfer continues after the bot has left.
    await handOver.settled();
  } finally {
    opened.stop(context.call.isEnded ? 'callEnded' : 'transferred');
    await handOver.over();
    // Presses during the stream are for the bot and do not count as type-ahead.
    context.call.digits.takeAhead();
  }
  return handOver.failed;
}
