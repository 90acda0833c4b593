import type { Headers } from '../call/needs.ts';

/** Prefix of customers' own headers on the INVITEs that we send (dialect §5.6). */
const PREFIX = 'X-VH-';
/** Names that other platforms keep for themselves (dialect §2.1, Dial sipHeaders). */
const RESERVED = /^(PH-|Plivo|FS-|SipAuth|ZT-|Twilio|ClientRegion|Call-Hops$)/i;
/** How many of our own calls led to this one, for whoever calls us back through a carrier. */
const HOPS = `${PREFIX}Call-Hops`;

export const customHeaders = (
  pairs: ReadonlyArray<readonly [name: string, value: string]>,
): Headers =>
  pairs
    .filter(([name]) => !RESERVED.test(name))
    .map(([name, value]) => [`${PREFIX}${name}`, value] as const);

/** A header field that we write ourselves, and nobody hands on. */
export const isOurs = (name: string): boolean => name.toLowerCase() === HOPS.toLowerCase();

/** The number of hops that an INVITE told of; 0 when it told nothing. */
export function hopsOf(headers: Headers): number {
  const told = headers.find(([name]) => name.toLowerCase() === HOPS.toLowerCase())?.[1];
  return told !== undefined && /^\d{1,3}$/.test(told) ? Number(told) : 0;
}

export const hopsHeader = (hops: number): readonly [name: string, value: string] => [
  HOPS,
  String(hops),
];
