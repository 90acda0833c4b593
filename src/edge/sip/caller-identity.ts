/** Who calls, in what we send (RFC 3323, RFC 3325). */
import type { Headers, OutboundTarget, PresentedCaller } from '../../domain/call/needs.ts';
import { formatNameAddr, sipUri } from '../../protocol/sip/sip.ts';

/** From of a caller that hides (RFC 3323 §4.1.1.3). */
export const ANONYMOUS = {
  user: 'anonymous',
  host: 'anonymous.invalid',
  displayName: 'Anonymous',
} as const;

/**
 * What a peer is told besides From. Carriers are trusted unless their policy says otherwise, all others where it says so:
 * a trusted one is told the number of a caller that hides too, and asked to keep it (RFC 3325 §9.3). A registered phone
 * sees the From alone.
 */
export function identityHeaders(
  target: OutboundTarget,
  from: PresentedCaller & { readonly host: string },
): Headers {
  const hidden = from.hidden === true;
  const privacy: Headers = hidden ? [['Privacy', 'id']] : [];
  const user = from.asserted ?? from.user;
  const { identity, identityHeader = 'pai' } = target.policy ?? {};
  const isTrusted =
    (identity ?? (target.kind === 'carrier' ? 'trusted' : 'untrusted')) === 'trusted';
  // A hidden caller without an asserted identity has none to pass on.
  const isKnown = user !== '' && !(hidden && user === ANONYMOUS.user);
  const isTold = target.kind !== 'endpoint' && isKnown && (isTrusted || !hidden);
  if (!isTold) return privacy;
  const uri = sipUri({ user, host: from.host });
  const sent: (readonly [name: string, value: string])[] = [];
  if (identityHeader !== 'rpid') sent.push(['P-Asserted-Identity', formatNameAddr({ uri })]);
  if (identityHeader !== 'pai') {
    const named = formatNameAddr({ uri, displayName: hidden ? '' : from.displayName });
    const rest = `party=calling;screen=yes;privacy=${hidden ? 'full' : 'off'}`;
    sent.push(['Remote-Party-ID', `${named};${rest}`]);
  }
  return sent.concat(privacy);
}
