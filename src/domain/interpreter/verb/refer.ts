import type { ReferInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import { notify, parametersOf } from '../call-callbacks.ts';
import type { ReferOutcome, VerbContext } from '../needs.ts';
import { concludeAction, NEXT, type VerbOutcome } from '../outcome.ts';
import { referParameters } from '../refer-parameters.ts';

const ACTION_EVENT = 'Refer';

/**
 * `Refer`: asks the carrier or trunk at the other end to call another party (RFC 3515, 5589). If that succeeds, the
 * call ends and `action` is notified. Otherwise the document continues, with `action` as after a `Dial`.
 */
export async function refer(
  instruction: ReferInstruction,
  context: VerbContext,
): Promise<VerbOutcome> {
  await context.ready();
  const { call, signal } = context;
  const outcome = await carriedOut(instruction, context);
  call.log.add('call', `Refer ended: ${outcome.status}`, { reason: outcome.detail });
  const { action: url, method, redirect } = instruction;
  const own = referParameters(textOf(instruction), outcome);
  if (!call.isEnded && !signal.aborted) {
    return url === undefined
      ? NEXT
      : concludeAction(context, { url, method, redirect }, ACTION_EVENT, own);
  }
  // The hangup notification precedes those of operations that the call started (dialect §2.1, order of callbacks).
  if (call.isEnded) await context.needs.keeping.settled(call);
  if (url !== undefined) {
    notify(context, ACTION_EVENT, { url, method }, parametersOf(call, ACTION_EVENT, own));
  }
  return NEXT;
}

async function carriedOut(
  { destination, timeoutMs }: ReferInstruction,
  { call, needs, signal }: VerbContext,
): Promise<ReferOutcome> {
  const begun = await needs.referrer.refer(call, { destination, timeoutMs, source: 'Answer XML' });
  if (!begun.ok) {
    const { detail } = begun.error;
    return { status: 'not-permitted', answered: undefined, notified: undefined, detail };
  }
  const referral = begun.value;
  const stop = (): void => referral.stop();
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await referral.outcome;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

const textOf = ({ destination }: ReferInstruction): string =>
  destination.kind === 'number' ? destination.number : destination.uri;
