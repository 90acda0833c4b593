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

/** How a call ends, and why. */
export interface Refusal {
  readonly cause: HangupCauseKey;
  readonly source: HangupSource;
  readonly detail: string | undefined;
}

/**
 * What a verb leads to. A verb that is interrupted rejects with its signal's reason instead. `refusal`: what a caller is
 * told who has not been answered, when no document follows: how the called party refused.
 */
export type VerbOutcome =
  | { readonly kind: 'next'; readonly refusal?: Refusal | undefined }
  /** The rest of the document is replaced by another one. */
  | {
      readonly kind: 'document';
      readonly next: NextDocument;
      readonly refusal?: Refusal | undefined;
    }
  /** The answer URL is asked again (`Dial` without action; decisions.md). */
  | { readonly kind: 'refetch'; readonly refusal?: Refusal | undefined }
  | {
      readonly kind: 'hangup';
      readonly cause: HangupCauseKey;
      readonly source: HangupSource;
      readonly detail?: string;
    };

export const NEXT = { kind: 'next' } as const satisfies VerbOutcome;

/**
 * The end of an element with an `action`: with `redirect` its document replaces the rest, without it the action is told
 * and the document goes on (decisions.md; dialect §2.0).
 */
export function concludeAction(
  context: VerbContext,
  action: { readonly url: string; readonly method: 'GET' | 'POST'; readonly redirect: boolean },
  event: string,
  own: CallbackParameters,
): Extract<VerbOutcome, { kind: 'next' | 'document' }> {
  const target = { url: action.url, method: action.method };
  const parameters = parametersOf(context.call, event, own);
  if (action.redirect) {
    return { kind: 'document', next: { via: 'action', target, fallback: undefined, parameters } };
  }
  notify(context, event, target, parameters);
  return NEXT;
}
