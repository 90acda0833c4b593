/** CSeq (RFC 3261 §20.16). */
import { isToken, parseDecimal } from './text.ts';

export interface CSeq {
  readonly sequence: number;
  readonly method: string;
}

/** §8.1.1.5: less than 2**31. */
export const MAX_CSEQ = 2 ** 31 - 1;

export function parseCSeq(text: string): CSeq | undefined {
  const match = /^([0-9]+)[ \t]+(\S+)$/.exec(text);
  const sequence = match?.[1] === undefined ? undefined : parseDecimal(match[1], MAX_CSEQ);
  const method = match?.[2];
  if (sequence === undefined || method === undefined || !isToken(method)) return undefined;
  return { sequence, method };
}

export const formatCSeq = (sequence: number, method: string): string => `${sequence} ${method}`;
