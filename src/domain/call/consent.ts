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

type Agreed = Result<void, { readonly kind: 'wrongState'; readonly detail: string }>;

/** Refuses what would keep the audio of a party that was asked and has not agreed. */
export function agreementOf(call: object): Agreed {
  const consent = consents.get(call);
  if (consent === undefined || consent.status === 'given') return ok(undefined);
  const detail =
    consent.status === 'refused' ? 'consent was refused' : 'consent has not been given yet';
  return err({ kind: 'wrongState', detail });
}

interface Connection {
  readonly other: object;
}

/** Connections of each party to the parties that it hears. */
const connections = new WeakMap<object, Set<Connection>>();
const watchers = new WeakMap<object, () => void>();

/** Notes that two parties hear each other. The returned function ends that. */
export function connectParties(a: object, b: object): () => void {
  const undo = [connect(a, b), connect(b, a)];
  return () => {
    for (const disconnect of undo) disconnect();
  };
}

/** Registers the function to call after each change of the parties that `call` hears. It replaces an earlier one. */
export function watchParties(call: object, changed: () => void): void {
  watchers.set(call, changed);
}

/** Returns whether all parties that `call` hears have agreed, or were not asked. */
export const haveOthersAgreed = (call: object): boolean => refusalOfOthers(call) === undefined;

/** Refuses recordings and streams of a call if its party, or one that it hears, was asked and has not agreed. */
export function mayKeepAudio(call: object): Agreed {
  const own = agreementOf(call);
  return own.ok ? (refusalOfOthers(call) ?? own) : own;
}

function refusalOfOthers(call: object): Agreed | undefined {
  for (const { other } of connections.get(call) ?? []) {
    const agreed = agreementOf(other);
    if (!agreed.ok) return agreed;
  }
  return undefined;
}

function connect(call: object, other: object): () => void {
  const all = connections.get(call) ?? new Set<Connection>();
  connections.set(call, all);
  const connection = { other };
  all.add(connection);
  watchers.get(call)?.();
  return () => {
    if (all.delete(connection)) watchers.get(call)?.();
  };
}
