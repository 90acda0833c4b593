/** Values derived from settings that are not set explicitly. */
import { bracketed, unbracketed } from '../base/host.ts';
import type { Settings } from '../config/schema.ts';
import type { OperatorPages } from '../edge/rest/server.ts';

export interface Derived {
  readonly publicUrl: string;
  readonly sipPublicHost: string;
  /** Host in Via and Contact for peers with IPv6, if it differs from `sipPublicHost`. */
  readonly sipPublicHost6: string | undefined;
  /** `sipPublicHost` as in SIP URIs. */
  readonly registrarHost: string;
  readonly rtpPublicHost: string;
  /** Address in SDP for peers with IPv6, if it differs from `rtpPublicHost`. */
  readonly rtpPublicHost6: string | undefined;
  /** SIP address of this node for other nodes. Bypasses an edge, which has the public name. */
  readonly sipNodeHost: string;
  /** True if HTTP is bound to loopback. Customers' servers may then be local too, without encryption (decisions.md). */
  readonly local: boolean;
  readonly allowInsecure: boolean;
  readonly operatorPages: OperatorPages;
}

export function derive(settings: Settings): Derived {
  const { http, sip, rtp, streams, publicUrl } = settings;
  const scheme = http.tlsCertFile === '' ? 'http' : 'https';
  const local = isLoopback(http.host);
  const sipPublicHost = sip.publicHost || reachable(sip.host);
  return {
    publicUrl: (publicUrl || `${scheme}://${bracketed(reachable(http.host))}:${http.port}`).replace(
      /\/+$/,
      '',
    ),
    sipPublicHost,
    sipPublicHost6: publicHost6(sip),
    registrarHost: bracketed(sipPublicHost),
    sipNodeHost: isEverywhere(sip.host) ? sip.publicHost || reachable(sip.host) : sip.host,
    rtpPublicHost: rtp.publicHost || reachable(rtp.host),
    rtpPublicHost6: publicHost6(rtp),
    local,
    allowInsecure: streams.allowInsecure === 'yes' || (streams.allowInsecure === 'auto' && local),
    operatorPages: operatorPages(settings, local),
  };
}

/**
 * Decides whether operator pages need a token. With `auto` they need one unless HTTP is bound to loopback without a
 * proxy or a public name.
 */
function operatorPages({ http, publicUrl }: Settings, local: boolean): OperatorPages {
  if (http.operatorPages !== 'auto') return http.operatorPages === 'open' ? 'open' : 'token';
  const isNamed = publicUrl !== '' && !isLoopback(URL.parse(publicUrl)?.hostname ?? '');
  return local && !isNamed && http.trustProxy.length === 0 ? 'direct' : 'token';
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host === '[::1]' || host.startsWith('127.');

/** 0.0.0.0 and :: listen on every interface. A URL needs one address, so it uses loopback. */
const isEverywhere = (host: string): boolean => host === '0.0.0.0' || host === '::';

const reachable = (host: string): string => (isEverywhere(host) ? '127.0.0.1' : host);

/** Public host for peers with IPv6; undefined if there is one public host for all peers. */
function publicHost6({
  host,
  publicHost,
  publicHost6,
}: Settings['sip' | 'rtp']): string | undefined {
  if (publicHost6 !== '') return unbracketed(publicHost6);
  return host === '::' && publicHost === '' ? '::1' : undefined;
}
