/** Parameters and signing account of callbacks about a call. */
import type { AccountId } from '../../base/ids.ts';
import type { Call } from '../call/call.ts';
import { type CallbackClient, standardParameters } from '../callback/callback.ts';
import type { CallbackAttempt, CallbackParameters, CallbackTarget } from '../callback/types.ts';

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

/** Adds a request to the timeline of the call. */
export function logAttempt(call: Call, { isUnsent: _, ...attempt }: CallbackAttempt): void {
  call.log.add('callback', attempt.event, { ...attempt });
}

/**
 * Returns whether an `action` counts as requested after this attempt. A failed request is repeated, but not after an
 * interruption (`isOver`), which may come before the next attempt.
 */
export const isRequested = ({ error, isUnsent }: CallbackAttempt, isOver: boolean): boolean =>
  error === undefined || (isOver && isUnsent !== true);

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
