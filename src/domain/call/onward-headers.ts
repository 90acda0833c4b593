/** Header fields that a call hands on to the one that follows from it: which of them a peer gets, adds and does without. */
import { isManaged } from '../provisioning/provisioning.ts';
import type { PeerPolicy } from '../provisioning/types.ts';
import type { Headers, IdentityClaims } from './signalling-needs.ts';

const LONGEST_HANDED_ON = 1024;
/** An Identity carries a signed token and an address (RFC 8224 §4). */
const LONGEST_IDENTITY = 4096;
const MOST_HANDED_ON = 16;
/** What tells how a call came here (RFC 7044 §10.1.1 `history`; RFC 3323 §4.2 `header`). */
const HISTORY: ReadonlySet<string> = new Set(['history-info', 'diversion']);

/** What of an INVITE may go on at all: no line too long, and no history that its caller wants hidden. */
export function mayGoOn(headers: Headers, claims: IdentityClaims | undefined): Headers {
  const hidesHistory = claims?.privacy.some((word) => word === 'history' || word === 'header');
  return headers.filter(([name, value]) => {
    const key = name.toLowerCase();
    if (isManaged(key)) return false;
    if (value.length > (key === 'identity' ? LONGEST_IDENTITY : LONGEST_HANDED_ON)) return false;
    return !(hidesHistory === true && HISTORY.has(key));
  });
}

/** What a plan says, and what one of its targets gets of it. */
export function headersFor(
  policy: PeerPolicy | undefined,
  {
    own,
    onward,
    passed,
  }: {
    /** What we tell everybody. */
    readonly own: Headers;
    /** What the call before brought. */
    readonly onward: Headers;
    /** Names that go on where the target says nothing else. */
    readonly passed: readonly string[];
  },
): Headers {
  const told =
    onward.length === 0
      ? own
      : [...own, ...handedOn(own, onward, nameIn(policy?.passHeaders ?? passed))];
  if (policy?.removeHeaders === undefined && policy?.addHeaders === undefined) return told;
  const added = Object.entries(policy.addHeaders ?? {});
  const replaced = nameIn([...(policy.removeHeaders ?? []), ...added.map(([name]) => name)]);
  return [...told.filter(([name]) => !replaced(name)), ...added];
}

function handedOn(own: Headers, onward: Headers, goesOn: (name: string) => boolean): Headers {
  const has = new Set(own.map(([name]) => name.toLowerCase()));
  return onward
    .filter(([name]) => goesOn(name) && !has.has(name.toLowerCase()))
    .slice(0, MOST_HANDED_ON);
}

/** Names without regard to case; `X-*` are all that begin so. */
function nameIn(names: readonly string[]): (name: string) => boolean {
  const all = names.map((name) => name.toLowerCase());
  const exact = new Set(all.filter((name) => !name.endsWith('*')));
  const begins = all.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
  return (name) => {
    const key = name.toLowerCase();
    return exact.has(key) || begins.some((start) => key.startsWith(start));
  };
}
