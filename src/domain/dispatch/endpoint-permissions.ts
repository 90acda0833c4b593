/** Call permissions of endpoints (spec, Endpoints: `allow_…`). Each refusal is a 403 whose Warning names the flag. */
import type { InboundLeg, SipAddresses } from '../call/needs.ts';
import type { EndpointPermissions } from '../provisioning/types.ts';
import { readDialledNumber } from './dialled-number.ts';

export type CalledKind = 'phones' | 'apps' | 'sameDomain' | 'otherDomains';

const FLAGS = {
  phones: ['allowPhones', 'reach telephone numbers (allow_phones)'],
  apps: ['allowApps', 'reach applications (allow_apps)'],
  sameDomain: ['allowSameDomain', 'reach addresses of this service (allow_same_domain)'],
  otherDomains: ['allowOtherDomains', 'reach addresses of other domains (allow_other_domains)'],
  messages: ['allowMessage', 'send messages (allow_message)'],
} as const satisfies Record<CalledKind | 'messages', readonly [keyof EndpointPermissions, string]>;

/** Returns why the endpoint may not call or message; undefined if it may. */
export function notPermitted(
  endpoint: EndpointPermissions,
  called: keyof typeof FLAGS,
): string | undefined {
  const [flag, what] = FLAGS[called];
  return endpoint[flag] ? undefined : `notPermitted: the endpoint may not ${what}`;
}

/** Returns why an offer is refused: the endpoint may not use the only media type that it offers. */
export function mediaNotPermitted(
  { allowVoice, allowVideo }: EndpointPermissions,
  sdp: string | undefined,
): string | undefined {
  const isVideoAlone = sdp !== undefined && /^m=video /m.test(sdp) && !/^m=audio /m.test(sdp);
  if (isVideoAlone && !allowVideo)
    return 'notPermitted: the endpoint may not make video calls (allow_video)';
  return allowVoice
    ? undefined
    : 'notPermitted: the endpoint may not make voice calls (allow_voice)';
}

/** IP address. Behind a NAT, this node may be reached at an unknown address, so addresses do not count as other domains. */
const ADDRESS = /^(?:[\d.]+|.*:.*)$/;
const LOOPBACK = /^(?:127\.|::1$)/;

/** Returns whether the request URI names another domain. The domain in the phone's From counts as its own domain. */
export function isElsewhere(
  { requestUri, from }: Pick<InboundLeg, 'requestUri' | 'from'>,
  addresses: SipAddresses,
): boolean {
  const address = addresses.read(requestUri);
  if (address?.whose !== 'elsewhere' || address.host === from.host.toLowerCase()) return false;
  return !ADDRESS.test(address.host) || LOOPBACK.test(address.host);
}

/** Classifies a destination that a phone dialled and that is not an application. */
export function calledKind(
  leg: Pick<InboundLeg, 'dialled' | 'requestUri' | 'from'>,
  country: string,
  addresses: SipAddresses,
): CalledKind {
  if (isElsewhere(leg, addresses)) return 'otherDomains';
  return readDialledNumber(leg.dialled.replaceAll(/[().-]/g, ''), country).kind === 'e164'
    ? 'phones'
    : 'sameDomain';
}
