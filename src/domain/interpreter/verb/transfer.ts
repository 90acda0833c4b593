import type { TransferInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import type { TransferProgress } from '../../call/needs.ts';
import { streamsOf } from '../audio-stream.ts';
import { notify, parametersOf } from '../call-callbacks.ts';
import { HandOver, transferParameters } from '../hand-over.ts';
import type { VerbContext } from '../needs.ts';
import { concludeAction, NEXT, tellInterrupted, type VerbOutcome } from '../outcome.ts';

const EVENT = 'Transfer';

/**
 * `Transfer`, an addition to the dialect: connects the caller with a colleague. The colleague can decline. The bots of the call
 * are those with an open bidirectional stream. Failures continue the document, or `action`, with the reason.
 */
export async function transfer(
  instruction: TransferInstruction,
  context: VerbContext,
): Promise<VerbOutcome> {
  await context.ready();
  const { call, needs } = context;
  const bots = () => streamsOf(call).filter(({ request }) => request.bidirectional);
  const handOver = new HandOver(bots, context);
  let last: TransferProgress = { status: 'failed', detail: '' };
  const { callbackUrl, callbackMethod } = instruction;
  const callback =
    callbackUrl === undefined ? undefined : { url: callbackUrl, method: callbackMethod };
  const own = () => transferParameters(instruction, last);
  const report = (progress: TransferProgress): void => {
    last = progress;
    notify({ call, needs }, EVENT, callback, parametersOf(call, EVENT, own()));
  };
  const { action: url, method, redirect } = instruction;
  try {
    const refusal = handOver.begin({ ...instruction, onFailure: 'next' }, report);
    if (refusal !== undefined) report({ status: 'failed', detail: refusal });
    await handOver.settled();
  } catch (error) {
    await handOver.over();
    if (url !== undefined) await tellInterrupted(context, { url, method }, EVENT, own());
    throw error;
  }
  await handOver.over();
  if (url === undefined) return NEXT;
  return concludeAction(context, { url, method, redirect }, EVENT, own());
}
