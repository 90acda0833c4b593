/** SIP INFO in a dialog: DTMF of the kind used before RFC 4733. */
import type { ResponseParts, SipRequest } from '../message.ts';
import { INFO_TYPES } from './capabilities.ts';

/** A keypad digit received by SIP INFO. */
export interface InfoDigit {
  readonly digit: string;
  readonly durationMs: number;
}

export const DTMF_RELAY = 'application/dtmf-relay';
const DTMF = 'application/dtmf';

const DEFAULT_DURATION_MS = 250;
const MAX_DURATION_MS = 10_000;
/** Event numbers of RFC 4733 §3.2, which some phones send instead of `*`, `#` and A-D. */
const BY_NUMBER: Readonly<Record<string, string>> = {
  '10': '*',
  '11': '#',
  '12': 'A',
  '13': 'B',
  '14': 'C',
  '15': 'D',
};

const key = (text: string): string | undefined => {
  const upper = text.trim().toUpperCase();
  return /^[0-9*#A-D]$/.test(upper) ? upper : BY_NUMBER[upper];
};

/** Parses `Signal=5 / Duration=160` (application/dtmf-relay) or a bare key (application/dtmf). */
function readInfoDigit(request: SipRequest): InfoDigit | undefined {
  const text = request.bodyText;
  if (request.contentType?.essence === DTMF) {
    const digit = key(text.split(/[\r\n]/)[0] ?? '');
    return digit === undefined ? undefined : { digit, durationMs: DEFAULT_DURATION_MS };
  }
  const digit = key(/^[ \t]*signal[ \t]*=([^\r\n]*)/im.exec(text)?.[1] ?? '');
  const duration = Number(/^[ \t]*duration[ \t]*=[ \t]*(\d{1,6})/im.exec(text)?.[1] ?? '');
  if (digit === undefined) return undefined;
  const durationMs = duration > 0 ? Math.min(duration, MAX_DURATION_MS) : DEFAULT_DURATION_MS;
  return { digit, durationMs };
}

export const writeInfoDigit = (digit: string, durationMs: number): string =>
  `Signal=${digit}\r\nDuration=${durationMs}\r\n`;

/** Response to an INFO. Info Packages of RFC 6086 are unsupported (469, §4.2.2). */
export function answerInfo(request: SipRequest): {
  readonly status: number;
  readonly parts?: ResponseParts;
  readonly press?: InfoDigit;
} {
  if (request.header('info-package') !== undefined) {
    return { status: 469, parts: { reason: 'Bad Info Package' } };
  }
  if (request.body.length === 0) return { status: 200 };
  if (!INFO_TYPES.includes(request.contentType?.essence ?? '')) {
    return { status: 415, parts: { headers: [['Accept', INFO_TYPES.join(', ')]] } };
  }
  const press = readInfoDigit(request);
  return press === undefined ? { status: 400 } : { status: 200, press };
}
