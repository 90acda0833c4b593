/** CSeq (RFC 3261 §20.16). */
import { endOfWord, isToken, parseDecimal, skipBlanks } from './text.ts';

export interface CSeq {
  readonly sequence: number;
  readonly method: string;
}

/** Upper bound of CSeq: less than 2**31 (§8.1.1.5). */
export const MAX_CSEQ = 2 ** 31 - 1;

export function parseCSeq(text: string): CSeq | undefined {
  const end = endOfWord(text, 0);
  const at = skipBlanks(text, end);
  const sequence = parseDecimal(text.slice(0, end), MAX_CSEQ);
  const method = text.slice(at);
  return sequence !== undefined && at > end && isToken(method) ? { sequence, method } : undefined;
}

export const formatCSeq = (sequence: number, method: string): string => `${sequence} ${method}`;
