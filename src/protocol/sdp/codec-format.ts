import type { Codec } from './types.ts';

export type { Codec };

export const fixed = (
  payloadType: number,
  name: string,
  clockRateHz: number,
  channels = 1,
): Codec => ({ payloadType, name, clockRateHz, channels, fmtp: '' });

/** Parses `name=value;name=value` of `a=fmtp` (RFC 4855 §3); names are in lower case. */
export function parametersOf({ fmtp }: Codec): ReadonlyMap<string, string> {
  const pairs = fmtp.split(';').map((part) => part.split('='));
  return new Map(pairs.map(([name = '', value = '']) => [name.trim().toLowerCase(), value.trim()]));
}
