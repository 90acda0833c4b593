import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { parseUri } from '../../../protocol/sip/sip.ts';

interface CertificateNames {
  /** Domains of `sip:` URIs without a user. */
  readonly sipDomains: readonly string[];
  readonly dnsNames: readonly string[];
  readonly addresses: readonly string[];
  /** Common name of the subject, used only without alternative names. */
  readonly commonName: string | undefined;
}

/** Entries of a subjectAltName as Node writes them: `DNS:a, URI:"sip:b", IP Address:192.0.2.1`. */
const ENTRY = /(DNS|URI|IP Address):("(?:[^"\\]|\\.)*"|[^,]*)/g;

function namesOf(certificate: X509Certificate): CertificateNames {
  const sipDomains: string[] = [];
  const dnsNames: string[] = [];
  const addresses: string[] = [];
  for (const [, kind, written = ''] of (certificate.subjectAltName ?? '').matchAll(ENTRY)) {
    const value = written.startsWith('"') ? unquoted(written) : written.trim();
    if (kind === 'DNS') dnsNames.push(value.toLowerCase());
    else if (kind === 'IP Address') addresses.push(plain(value));
    else {
      const domain = sipDomain(value);
      if (domain !== undefined) sipDomains.push(domain);
    }
  }
  const commonName = /^CN=(.*)$/m.exec(certificate.subject)?.[1]?.toLowerCase();
  const hasNames = sipDomains.length + dnsNames.length + addresses.length > 0;
  return { sipDomains, dnsNames, addresses, commonName: hasNames ? undefined : commonName };
}

/**
 * Returns whether a certificate matches a SIP domain or address (RFC 5922 §7). It compares `sip:` URIs if present,
 * otherwise DNS names, otherwise the common name. Names must match completely. With `wildcards`, a first label `*`
 * matches any one label, which RFC 5922 forbids but some carriers need.
 */
export function isCertificateOf(
  certificate: X509Certificate,
  name: string,
  wildcards: boolean,
): boolean {
  const names = namesOf(certificate);
  if (isIP(name) !== 0) return names.addresses.includes(plain(name));
  const wanted = name.toLowerCase().replace(/\.$/, '');
  if (names.sipDomains.length > 0) return names.sipDomains.includes(wanted);
  const { dnsNames, commonName } = names;
  if (commonName !== undefined) return commonName === wanted;
  return dnsNames.some(
    (candidate) => candidate === wanted || (wildcards && coversByWildcard(candidate, wanted)),
  );
}

function coversByWildcard(pattern: string, name: string): boolean {
  if (!pattern.startsWith('*.')) return false;
  const dot = name.indexOf('.');
  return dot > 0 && name.slice(dot) === pattern.slice(1) && pattern.split('.').length > 2;
}

/** Domain of a URI. A URI with a user identifies a person, not a server, and is ignored. */
function sipDomain(text: string): string | undefined {
  const uri = parseUri(text);
  return uri?.kind === 'sip' && uri.user === '' ? uri.host.toLowerCase() : undefined;
}

const plain = (address: string): string =>
  ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;

function unquoted(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return '';
  }
}
