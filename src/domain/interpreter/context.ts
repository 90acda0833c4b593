import type { Call } from '../call/call.ts';
import type { HangupCauseKey, HangupSource } from '../call/types.ts';
import { standardParameters } from '../callback/callback.ts';
import type { CallbackParameters, CallbackTarget } from '../callback/types.ts';
import type { InterpreterNeeds } from './needs.ts';

/** Where the next document comes from; decides the hangup cause when it cannot be had (7011…7014, 8011…8014). */
export type DocumentVia = 'answer' | 'action' | 'transfer' | 'redirect';

export interface NextDocument {
  readonly via: DocumentVia;
  readonly target: CallbackTarget;
  readonly fallback: CallbackTarget | undefined;
  readonly parameters: CallbackParameters;
}

/** What a verb leads to. A verb that is interrupted rejects with its signal's reason instead. */
export type VerbOutcome =
  | { readonly kind: 'next' }
  /** The rest of the document is replaced by another one. */
  | { readonly kind: 'document'; readonly next: NextDocument }
  /** The answer URL is asked again (`Dial` without action; decisions.md). */
  | { readonly kind: 'refetch' }
  | {
      readonly kind: 'hangup';
      readonly cause: HangupCauseKey;
      readonly source: HangupSource;
      readonly detail?: string;
    };

export const NEXT: VerbOutcome = { kind: 'next' };

/** What a verb works with. */
export interface VerbContext {
  readonly call: Call;
  readonly needs: InterpreterNeeds;
  /** Aborted by the end of the call and by a transfer: the verb gives everything back and rejects. */
  readonly signal: AbortSignal;
  /** Answers the call if it is not answered yet; rejects when it cannot be. Early media suffices inside PreAnswer. */
  ready(): Promise<void>;
}

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
export const signerOf = (call: Call): string => call.identity.subAccount ?? call.identity.accountId;

/** A notification about this call; kept and delivered in order, never waited for. */
export function notify(
  { call, needs }: Pick<VerbContext, 'call' | 'needs'>,
  event: string,
  target: CallbackTarget | undefined,
  parameters: CallbackParameters,
): void {
  if (target === undefined) return;
  needs.callbacks.notify({
    accountId: signerOf(call),
    callUuid: call.uuid,
    event,
    target,
    parameters,
  });
}

/**
 * The end of an element with an `action`: with `redirect` its document replaces the rest, without it the action is told
 * and the document goes on (decisions.md; dialect §2.0).
 */
export function concludeAction(
  context: VerbContext,
  action: { readonly url: string; readonly method: 'GET' | 'POST'; readonly redirect: boolean },
  event: string,
  own: CallbackParameters,
): VerbOutcome {
  const target = { url: action.url, method: action.method };
  const parameters = parametersOf(context.call, event, own);
  if (action.redirect) {
    return { kind: 'document', next: { via: 'action', target, fallback: undefined, parameters } };
  }
  notify(context, event, target, parameters);
  return NEXT;
}

/** Rejects with the signal's reason as soon as it is aborted; otherwise what `work` comes to. */
export function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
