import type { HangupCauseKey, HangupSource } from '../call/types.ts';
import type { CallbackParameters, CallbackTarget } from '../callback/types.ts';
import { notify, parametersOf } from './call-callbacks.ts';
import type { VerbContext } from './needs.ts';

/**
 * Source of the next document. Determines the hangup cause if it cannot be fetched or parsed (7011 to 7014, 8011 to
 * 8014).
 */
export type DocumentVia = 'answer' | 'action' | 'transfer' | 'redirect';

export interface NextDocument {
  readonly via: DocumentVia;
  readonly target: CallbackTarget;
  readonly fallback: CallbackTarget | undefined;
  readonly parameters: CallbackParameters;
}

/** Hangup cause, source and detail. */
export interface Refusal {
  readonly cause: HangupCauseKey;
  readonly source: HangupSource;
  readonly detail: string | undefined;
}

/**
 * Result of a verb. An interrupted verb rejects with the signal's reason instead. `refusal` is how the called party
 * refused; an unanswered caller gets it if no document follows.
 */
export type VerbOutcome =
  | { readonly kind: 'next'; readonly refusal?: Refusal | undefined }
  /** Another document replaces the rest of the current one. */
  | {
      readonly kind: 'document';
      readonly next: NextDocument;
      readonly refusal?: Refusal | undefined;
    }
  /** The answer URL is fetched again (`Dial` without action; decisions.md). */
  | { readonly kind: 'refetch'; readonly refusal?: Refusal | undefined }
  | {
      readonly kind: 'hangup';
      readonly cause: HangupCauseKey;
      readonly source: HangupSource;
      readonly detail?: string;
    };

export const NEXT = { kind: 'next' } as const satisfies VerbOutcome;

/**
 * Concludes an element with an `action`. With `redirect`, the action's document replaces the rest. Otherwise, the
 * action is notified and the document continues (decisions.md; dialect §2.0).
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

/** Notifies the `action` of an interrupted element. The response is not used as a document. */
export async function tellInterrupted(
  context: VerbContext,
  action: CallbackTarget,
  event: string,
  own: CallbackParameters,
): Promise<void> {
  const { call, needs } = context;
  // The hangup notification precedes those of operations that the call started (dialect §2.1, order of callbacks).
  if (call.isEnded) await needs.keeping.settled(call);
  notify(context, event, action, parametersOf(call, event, own));
}
