/** Host form of an IP address or name: IPv6 in brackets, others unchanged. */
export const bracketed = (address: string): string =>
  address.includes(':') && !address.startsWith('[') ? `[${address}]` : address;

/** Reverse of `bracketed`: an IPv6 address without its brackets. */
export const unbracketed = (host: string): string =>
  host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;

/**
 * Canonical form of an IP address in a message or a setting, equal for all its spellings. An IPv4-mapped IPv6 address
 * becomes IPv4. Other text is returned unchanged.
 */
export function plainAddress(text: string): string {
  if (!text.includes(':')) return text;
  const canonical = URL.parse(`http://[${text}]/`)?.hostname.slice(1, -1);
  if (canonical === undefined) return text;
  const [, high, low] = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(canonical) ?? [];
  if (high === undefined || low === undefined) return canonical;
  const [upper, lower] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [upper >> 8, upper & 255, lower >> 8, lower & 255].join('.');
}

const LINK_LOCAL = /^fe[89ab][0-9a-f]:/i;

/** An address without its interface. Messages never contain interfaces, because they are valid on this machine only (RFC 4007 §6). */
export const withoutZone = (address: string): string => address.replace(/%.*/, '');

/**
 * A link-local address of a message with the interface on which its sender was received, `fe80::7%eth0`. Other
 * addresses are returned unchanged.
 */
export function inZoneOf(sender: string | undefined, address: string): string {
  const [, zone] = sender?.split('%') ?? [];
  return zone !== undefined && LINK_LOCAL.test(address) ? `${address}%${zone}` : address;
}

/** Prefix length of IPv4-mapped IPv6 addresses (RFC 4291 §2.5.5.2). */
const MAPPED_BITS = 96;

/** CIDR range in IPv4 form if it is one of IPv4-mapped IPv6 addresses. Other text is returned unchanged. */
export function plainRange(text: string): string {
  const [address = '', bits = ''] = text.split('/');
  const plain = plainAddress(address);
  const isMapped = address.includes(':') && !plain.includes(':') && /^\d+$/.test(bits);
  return isMapped && Number(bits) >= MAPPED_BITS ? `${plain}/${Number(bits) - MAPPED_BITS}` : text;
}
