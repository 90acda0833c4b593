/** Caller and called party as named in messages. */
import { bracketed } from '../../base/host.ts';
import type { IdentityClaims, Party } from '../../domain/call/needs.ts';
import {
  formatUri,
  type NameAddr,
  parseNameAddr,
  type SipRequest,
  unescapeUser,
} from '../../protocol/sip/sip.ts';

/** Telephone number followed by parameters of tel URIs (RFC 3261 §19.1.6). */
const NUMBER_WITH_PARAMETERS = /^(\+?[\d().*#-]+);/;

export function userOf(uri: NameAddr['uri']): string {
  if (uri.kind === 'tel') return uri.number;
  if (uri.kind === 'other') return uri.opaque;
  const user = unescapeUser(uri.user);
  return NUMBER_WITH_PARAMETERS.exec(user)?.[1] ?? user;
}

/** Party without parameters, for callbacks and records. */
export function partyOf({ uri, displayName }: NameAddr): Party {
  const user = userOf(uri);
  if (uri.kind !== 'sip') {
    const plain = uri.kind === 'tel' ? `tel:${uri.number}` : formatUri(uri);
    return { uri: plain, user, host: '', displayName };
  }
  const port = uri.port === undefined ? '' : `:${uri.port}`;
  const at = uri.user === '' ? '' : `${uri.user}@`;
  const address = `${uri.secure ? 'sips' : 'sip'}:${at}${bracketed(uri.host)}${port}`;
  return { uri: address, user, host: uri.host, displayName };
}

/** Maximum number of asserted identities: one SIP and one tel URI (RFC 3325 §9.1). */
const MOST_ASSERTED = 2;

/** Identity claims other than From; undefined if there are none. Malformed values are skipped. */
export function claimsOf(request: SipRequest): IdentityClaims | undefined {
  const asserted = addresses(request, 'p-asserted-identity').slice(0, MOST_ASSERTED).map(partyOf);
  const [preferred] = addresses(request, 'p-preferred-identity').map(partyOf);
  const privacy = request
    .headers('privacy')
    .flatMap((value) => value.toLowerCase().split(/[;,]/))
    .map((value) => value.trim())
    .filter((value) => value !== '');
  const remoteParty = remotePartyOf(request);
  const isSilent = asserted.length === 0 && preferred === undefined && remoteParty === undefined;
  if (isSilent && privacy.length === 0) return undefined;
  return { asserted, preferred, remoteParty, privacy };
}

const addresses = (request: SipRequest, name: string): readonly NameAddr[] =>
  request
    .list(name)
    .map(parseNameAddr)
    .filter((address) => address !== undefined);

/** Remote-Party-ID of the calling party (draft-ietf-sip-privacy-04 §4.1). */
function remotePartyOf(request: SipRequest): IdentityClaims['remoteParty'] {
  const isCaller = ({ params }: NameAddr): boolean =>
    (params.get('party') ?? 'calling').toLowerCase() === 'calling';
  const found = addresses(request, 'remote-party-id').find(isCaller);
  if (found === undefined) return undefined;
  const privacy = (found.params.get('privacy') ?? 'off').toLowerCase().replaceAll('"', '');
  return { party: partyOf(found), hides: privacy !== 'off' };
}
