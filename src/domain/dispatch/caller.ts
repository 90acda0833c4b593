/** Caller identity of inbound calls: trust in its claims, and its visibility to others (RFC 3323, RFC 3325). */
import { plainNumber } from '../../base/phone-number.ts';
import type { CallerPreference } from '../call/call.ts';
import type { IdentityClaims, InboundLeg, Party } from '../call/needs.ts';
import type { PeerPolicy } from '../provisioning/types.ts';
import { readDialledNumber } from './dialled-number.ts';

export interface Caller {
  /** Caller for callbacks and records: E.164 digits, a name or `anonymous`. */
  readonly from: string;
  readonly callerName: string;
  readonly preference: CallerPreference | undefined;
}

/** Value that replaces the number of a hidden caller. */
export const ANONYMOUS = 'anonymous';
/** Values of the Privacy header field that hide the caller (RFC 3323 §4.2, RFC 3325 §9.3). */
const HIDING: ReadonlySet<string> = new Set(['id', 'user', 'header']);

type Calling = Pick<InboundLeg, 'from' | 'claims'>;

/**
 * Returns the caller of a carrier's call. A trusted carrier identifies it in P-Asserted-Identity or Remote-Party-ID,
 * regardless of From. For an untrusted carrier, asserted identities are ignored (RFC 3325 §5) and From counts. Privacy
 * requests apply in both cases.
 */
export function carriersCaller(leg: Calling, policy: PeerPolicy | undefined): Caller {
  const isTrusted = policy?.identity !== 'untrusted';
  const reported = isTrusted ? assertedIn(leg.claims) : undefined;
  const isHidden = hides(leg) || (isTrusted && leg.claims?.remoteParty?.hides === true);
  if (isHidden) {
    const asserted = isTrusted ? identityOf(reported ?? leg.from) : undefined;
    return { from: ANONYMOUS, callerName: 'Anonymous', preference: { hidden: true, asserted } };
  }
  const party = reported ?? leg.from;
  const callerName = party.displayName || leg.from.displayName;
  return { from: plainUser(party), callerName, preference: undefined };
}

/**
 * Returns the caller ID preferences of a phone, which authentication has identified. It may request a number with
 * P-Preferred-Identity or From; `owns` says whether the account may present it.
 */
export async function requestedCaller(
  leg: Calling,
  country: string,
  owns: (e164: string) => Promise<boolean>,
): Promise<CallerPreference | undefined> {
  const hidden = hides(leg);
  const requested = leg.claims?.preferred ?? leg.from;
  const read = readDialledNumber(digitsOf(requested.user), country);
  const presented =
    read.kind === 'e164' && (await owns(read.e164)) ? { presented: read.e164 } : undefined;
  return hidden || presented !== undefined ? { hidden, ...presented } : undefined;
}

/** Returns the first asserted number, or else the first asserted identity. Anonymous and empty identities are ignored. */
function assertedIn(claims: IdentityClaims | undefined): Party | undefined {
  const { asserted = [], remoteParty } = claims ?? {};
  const parties = asserted.filter((party) => identityOf(party) !== undefined);
  const found = parties.find((party) => numberOf(party) !== undefined) ?? parties[0];
  if (found !== undefined || remoteParty === undefined) return found;
  return identityOf(remoteParty.party) === undefined ? undefined : remoteParty.party;
}

/** Returns the number or name of a party; undefined if it is anonymous or has no user part. */
function identityOf(party: Party): string | undefined {
  const user = plainUser(party);
  return user === '' || isAnonymous(party) ? undefined : user;
}

/** Removes tel URI parameters from a number (RFC 3966, RFC 3261 §19.1.6). */
const plainUser = ({ user }: Party): string => plainNumber(user.split(';')[0] ?? '');

const numberOf = (party: Party): string | undefined => {
  const digits = plainUser(party);
  return /^\d+$/.test(digits) ? digits : undefined;
};

const hides = ({ from, claims }: Calling): boolean =>
  isAnonymous(from) || claims?.privacy.some((word) => HIDING.has(word)) === true;

const isAnonymous = ({ user, host }: Party): boolean =>
  user.toLowerCase() === ANONYMOUS || /^anonymous\.invalid$/i.test(host);

/** Normalizes a number and keeps a leading `+`. */
const digitsOf = (user: string): string =>
  user.startsWith('+') ? `+${plainNumber(user)}` : plainNumber(user);
