/** Consent of the party of a call to recordings and streams. */
import { err, ok, type Result } from '../../base/result.ts';

/** `pending`: the party has been asked and has not answered yet. */
export interface Consent {
  readonly status: 'pending' | 'given' | 'refused';
  /** Time of the question or of the answer, in microseconds. */
  readonly atUs: number;
}

const consents = new WeakMap<object, Consent>();

/** Consent of the call; undefined: the party was not asked. */
export const consentOf = (call: object): Consent | undefined => consents.get(call);

export function keepConsent(call: { nowUs(): number }, status: Consent['status']): void {
  consents.set(call, { status, atUs: call.nowUs() });
}

/** Refuses recordings and streams of a party that was asked and has not agreed. */
export function mayKeepAudio(
  call: object,
): Result<void, { readonly kind: 'wrongState'; readonly detail: string }> {
  const consent = consents.get(call);
  if (consent === undefined || consent.status === 'given') return ok(undefined);
  const detail =
    consent.status === 'refused' ? 'consent was refused' : 'consent has not been given yet';
  return err({ kind: 'wrongState', detail });
}
