import type { HangupCauseKey, HangupSource } from '../call/types.ts';
import type { CallbackParameters, CallbackTarget } from '../callback/types.ts';
import { notify, parametersOf } from './call-callbacks.ts';
import type { VerbContext } from './needs.ts';

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
