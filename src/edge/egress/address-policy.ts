/** Permitted destination addresses. Ranges follow the IANA special-purpose registries, as classified by ipaddr.js. */
import ipaddr from 'ipaddr.js';
import { plainRange, unbracketed } from '../../base/host.ts';

type Address = ReturnType<typeof ipaddr.parse>;
type Range = readonly [Address, number];

export interface AddressPolicy {
  /** Returns why the address is refused, or undefined if it is permitted. */
  refusal(address: string): string | undefined;
  /** Whether the operator's list contains the name, regardless of its addresses. */
  allowsName(hostname: string): boolean;
  /** Whether the operator's list contains the address, regardless of its kind. */
  lists(address: string): boolean;
}

/** Creates a policy. `allow` contains addresses, CIDR ranges, host names or `*.suffix`. */
export function createAddressPolicy(
  allow: readonly string[],
  allowLoopback: boolean,
): AddressPolicy {
  const ranges: Range[] = [];
  const names = new Set<string>();
  const suffixes: string[] = [];
  for (const entry of allow.map((item) => item.trim().toLowerCase())) {
    const range = parseRange(entry);
    if (range !== undefined) ranges.push(range);
    else if (entry.startsWith('*.')) suffixes.push(entry.slice(1));
    else if (entry !== '') names.add(entry);
  }
  return {
    refusal: (text) => {
      const address = parseAddress(text);
      if (address === undefined) return `${text} is not an IP address`;
      if (ranges.some((range) => isWithin(address, range))) return undefined;
      const kind = kindOf(address);
      if (kind === 'unicast') return undefined;
      if (kind === 'loopback' && allowLoopback) return undefined;
      return `${text} is a ${RANGE_WORDS[kind] ?? kind} address`;
    },
    allowsName: (hostname) =>
      names.has(hostname) || suffixes.some((suffix) => hostname.endsWith(suffix)),
    lists: (text) => {
      const address = parseAddress(text);
      return address !== undefined && ranges.some((range) => isWithin(address, range));
    },
  };
}

export const isLoopback = (text: string): boolean => parseAddress(text)?.range() === 'loopback';

/** Canonical form of an address, equal for mapped, compressed and upper-case spellings. */
export const plainAddress = (text: string): string => parseAddress(text)?.toString() ?? text;

/** Classifies IPv6. Global unicast is 2000::/3 (RFC 4291 §2.4); addresses outside it, such as `::127.0.0.1`, are refused. */
function kindOf(address: Address): string {
  const kind = address.range();
  if (kind !== 'unicast' || address.kind() === 'ipv4') return kind;
  return ((address.toByteArray()[0] ?? 0) & 0xe0) === 0x20 ? kind : 'reserved';
}

const RANGE_WORDS: Readonly<Record<string, string>> = {
  linkLocal: 'link-local',
  carrierGradeNat: 'carrier-grade NAT',
  uniqueLocal: 'private (unique local)',
};

/** Maximum number of cached addresses. Each leg's address is checked several times, and most peers call again. */
const MAX_PARSED = 10_000;
const parsed = new Map<string, Address | undefined>();

function parseAddress(text: string): Address | undefined {
  const known = parsed.get(text);
  if (known !== undefined || parsed.has(text)) return known;
  if (parsed.size >= MAX_PARSED) parsed.clear();
  const address = readAddress(text);
  parsed.set(text, address);
  return address;
}

/** Parses an address. An embedded IPv4 address (mapped, or NAT64 of RFC 6052) is treated as IPv4. */
function readAddress(text: string): Address | undefined {
  if (text.includes('%') || !ipaddr.isValid(text)) return undefined;
  const address = ipaddr.process(text);
  if (address.kind() === 'ipv6' && address.range() === 'rfc6052') {
    const bytes = address.toByteArray();
    const isWellKnownPrefix = bytes.slice(4, 12).every((byte) => byte === 0);
    if (isWellKnownPrefix) return ipaddr.fromByteArray(bytes.slice(12));
  }
  return address;
}

function parseRange(entry: string): Range | undefined {
  const range = plainRange(entry);
  if (ipaddr.isValidCIDR(range)) return ipaddr.parseCIDR(range);
  const bare = unbracketed(entry);
  if (!ipaddr.isValid(bare)) return undefined;
  const address = ipaddr.process(bare);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

const isWithin = (address: Address, [network, bits]: Range): boolean =>
  address.kind() === network.kind() && address.match(network, bits);
