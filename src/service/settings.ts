/** What follows from the settings when they leave something open. */
import type { Settings } from '../config/schema.ts';

export interface Derived {
  readonly publicUrl: string;
  readonly sipPublicHost: string;
  readonly rtpPublicHost: string;
  /** HTTP is bound to loopback: customers' servers may be there too, without encryption (decisions.md). */
  readonly local: boolean;
  readonly allowInsecure: boolean;
}

export function derive(settings: Settings): Derived {
  const { http, sip, rtp, streams, publicUrl } = settings;
  const scheme = http.tlsCertFile === '' ? 'http' : 'https';
  const local = isLoopback(http.host);
  return {
    publicUrl: (publicUrl || `${scheme}://${bracketed(reachable(http.host))}:${http.port}`).replace(
      /\/+$/,
      '',
    ),
    sipPublicHost: sip.publicHost || reachable(sip.host),
    rtpPublicHost: rtp.publicHost || reachable(rtp.host),
    local,
    allowInsecure: streams.allowInsecure === 'yes' || (streams.allowInsecure === 'auto' && local),
  };
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host.startsWith('127.');

/** An address to listen on everywhere is none to be called at. */
const reachable = (host: string): string =>
  host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;

const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host);
