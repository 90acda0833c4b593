/** Selects and rewrites the header fields that a call passes on to the call that follows from it. */
import { isManaged } from '../provisioning/provisioning.ts';
import type { PeerPolicy } from '../provisioning/types.ts';
import type { Headers, IdentityClaims } from './signalling-needs.ts';

const LONGEST_HANDED_ON = 1024;
/** Limit for Identity, which carries a signed token and a URL (RFC 8224 §4). */
const LONGEST_IDENTITY = 4096;
const MOST_HANDED_ON = 16;
/** Header fields that show the path of a call (RFC 7044 §10.1.1 `history`; RFC 3323 §4.2 `header`). */
const HISTORY: ReadonlySet<string> = new Set(['history-info', 'diversion']);

/**
 * Returns the header fields of an INVITE that may be passed on. Drops overlong values, and history that the caller
 * wants hidden.
 */
export function mayForward(headers: Headers, claims: IdentityClaims | undefined): Headers {
  const hidesHistory = claims?.privacy.some((word) => word === 'history' || word === 'header');
  return headers.filter(([name, value]) => {
    const key = name.toLowerCase();
    if (isManaged(key)) return false;
    if (value.length > (key === 'identity' ? LONGEST_IDENTITY : LONGEST_HANDED_ON)) return false;
    return !(hidesHistory === true && HISTORY.has(key));
  });
}

/** Returns the header fields for one target: the plan's fields with the target's policy applied. */
export function headersFor(
  policy: PeerPolicy | undefined,
  {
    own,
    onward,
    passed,
  }: {
    /** Header fields for every target. */
    readonly own: Headers;
    /** Header fields of the call that this one follows from. */
    readonly onward: Headers;
    /** Names passed on when the target has no `passHeaders`. */
    readonly passed: readonly string[];
  },
): Headers {
  const reported =
    onward.length === 0
      ? own
      : [...own, ...handedOn(own, onward, nameIn(policy?.passHeaders ?? passed))];
  if (policy?.removeHeaders === undefined && policy?.addHeaders === undefined) return reported;
  const added = Object.entries(policy.addHeaders ?? {});
  const replaced = nameIn([...(policy.removeHeaders ?? []), ...added.map(([name]) => name)]);
  return [...reported.filter(([name]) => !replaced(name)), ...added];
}

function handedOn(own: Headers, onward: Headers, goesOn: (name: string) => boolean): Headers {
  const has = new Set(own.map(([name]) => name.toLowerCase()));
  return onward
    .filter(([name]) => goesOn(name) && !has.has(name.toLowerCase()))
    .slice(0, MOST_HANDED_ON);
}

/** Returns a case-insensitive name matcher. `X-*` matches every name with that prefix. */
function nameIn(names: readonly string[]): (name: string) => boolean {
  const all = names.map((name) => name.toLowerCase());
  const exact = new Set(all.filter((name) => !name.endsWith('*')));
  const begins = all.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
  return (name) => {
    const key = name.toLowerCase();
    return exact.has(key) || begins.some((start) => key.startsWith(start));
  };
}
