/** Caller identity in outgoing requests (RFC 3323, RFC 3325). */
import type { Headers, OutboundTarget, PresentedCaller } from '../../domain/call/needs.ts';
import { formatNameAddr, sipUri } from '../../protocol/sip/sip.ts';

/** From of an anonymous caller (RFC 3323 §4.1.1.3). */
export const ANONYMOUS = {
  user: 'anonymous',
  host: 'anonymous.invalid',
  displayName: 'Anonymous',
} as const;

/**
 * Identity headers in addition to From. Carriers are trusted unless their policy says otherwise; other peers only if
 * their policy says so. A trusted peer also receives the number of an anonymous caller and a request for privacy (RFC
 * 3325 §9.3). A registered phone receives only From.
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
  // An anonymous caller without an asserted identity has no number to pass on.
  const isKnown = user !== '' && !(hidden && user === ANONYMOUS.user);
  const isReported = target.kind !== 'endpoint' && isKnown && (isTrusted || !hidden);
  if (!isReported) return privacy;
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
