import type { Headers } from '../call/needs.ts';

/** Prefix of customers' header fields on outbound INVITEs (dialect §5.6). */
const PREFIX = 'X-VH-';
/** Names reserved by other platforms (dialect §2.1, Dial sipHeaders). */
const RESERVED = /^(PH-|Plivo|FS-|SipAuth|ZT-|Twilio|ClientRegion|Call-Hops$)/i;
/** Header field that counts the chained calls of this service, to detect loops through carriers. */
const HOPS = `${PREFIX}Call-Hops`;

export const customHeaders = (
  pairs: ReadonlyArray<readonly [name: string, value: string]>,
): Headers =>
  pairs
    .filter(([name]) => !RESERVED.test(name))
    .map(([name, value]) => [`${PREFIX}${name}`, value] as const);

/** True for header fields that this service generates; they are not passed on. */
export const isOurs = (name: string): boolean => name.toLowerCase() === HOPS.toLowerCase();

/** Returns the hop count in an INVITE; 0 if absent. */
export function hopsOf(headers: Headers): number {
  const reported = headers.find(([name]) => name.toLowerCase() === HOPS.toLowerCase())?.[1];
  return reported !== undefined && /^\d{1,3}$/.test(reported) ? Number(reported) : 0;
}

export const hopsHeader = (hops: number): readonly [name: string, value: string] => [
  HOPS,
  String(hops),
];
