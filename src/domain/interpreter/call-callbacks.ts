/** What callbacks about a call say and who signs them, whichever element or operation they come from. */
import type { AccountId } from '../../base/ids.ts';
import type { Call } from '../call/call.ts';
import { type CallbackClient, standardParameters } from '../callback/callback.ts';
import type { CallbackParameters, CallbackTarget } from '../callback/types.ts';

/** The standard parameters of a request about this call, with an element's own behind them. */
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

/** A notification about this call; kept and delivered in order, never waited for. */
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
