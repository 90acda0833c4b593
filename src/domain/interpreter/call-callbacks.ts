/** Parameters and signing account of callbacks about a call. */
import type { AccountId } from '../../base/ids.ts';
import type { Call } from '../call/call.ts';
import { type CallbackClient, standardParameters } from '../callback/callback.ts';
import type { CallbackParameters, CallbackTarget } from '../callback/types.ts';

/** Returns the standard parameters of a request about this call, followed by the element's parameters. */
export function parametersOf(
  call: Call,
  event: string,
  own: CallbackParameters = [],
): CallbackParameters {
  const status = call.isEnded
    ? 'completed'
    : call.answerUs === undefined
      ? 'ringing'
      : 'in-progress';
  return [...standardParameters(call.facts, event, status), ...own];
}

/** Account whose token signs the callbacks of a call. */
export const signerOf = (call: Call): AccountId =>
  call.identity.subAccount ?? call.identity.accountId;

/** Queues a notification about this call. It is stored and delivered in order, without waiting. */
export function notify(
  {
    call,
    needs,
  }: {
    readonly call: Call;
    readonly needs: { readonly callbacks: Pick<CallbackClient, 'notify'> };
  },
  event: string,
  target: CallbackTarget | undefined,
  parameters: CallbackParameters,
): void {
  if (target === undefined) return;
  needs.callbacks.notify({
    accountId: signerOf(call),
    subject: call.uuid,
    event,
    target,
    parameters,
  });
}
