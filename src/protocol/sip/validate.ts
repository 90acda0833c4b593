/** Faults of a whole message that need no knowledge of the user agent (RFC 3261 §8.1.1, §8.2, §18.3, §20). */
import { parseNameAddr } from './header/name-addr.ts';
import { parseDecimal, splitList } from './header/text.ts';
import { isSipDate, parseDeltaSeconds, parseMediaType } from './header/values.ts';
import { parseVia } from './header/via.ts';
import type { SipMessage, SipRequest, SipResponse } from './message.ts';

export interface Fault {
  readonly status: number;
  /** Reason phrase that names the header. */
  readonly reason: string;
}

type Check = (value: string) => boolean;

interface Rule {
  /** May stand once only (§7.3.1, §20). */
  readonly single: boolean;
  readonly check: Check | undefined;
}

interface NumberedRule extends Rule {
  /** A bit of its own. */
  readonly bit: number;
}

const everyNameAddr: Check = (value) =>
  splitList(value).every((element) => element === '' || parseNameAddr(element) !== undefined);

const SINGLE_UNCHECKED = [
  ...['from', 'to', 'cseq', 'content-length', 'event', 'min-expires', 'min-se', 'refer-to'],
  ...['referred-by', 'replaces', 'rack', 'rseq', 'session-expires', 'subscription-state'],
  ...['content-disposition', 'user-agent', 'timestamp', 'mime-version'],
];

/** Syntax of headers that everybody has to understand; others are read by whoever needs them. */
const RULE_LIST: readonly (readonly [key: string, rule: Rule])[] = [
  ...SINGLE_UNCHECKED.map((key) => [key, { single: true, check: undefined }] as const),
  ['route', { single: false, check: everyNameAddr }],
  ['record-route', { single: false, check: everyNameAddr }],
  ['call-id', { single: true, check: (value) => value !== '' && !/[ \t]/.test(value) }],
  ['max-forwards', { single: true, check: (value) => parseDecimal(value, 255) !== undefined }],
  ['expires', { single: true, check: (value) => parseDeltaSeconds(value) !== undefined }],
  ['date', { single: true, check: isSipDate }],
  ['content-type', { single: true, check: (value) => parseMediaType(value) !== undefined }],
];
/** Fewer than 32, so that one number says which header fields were seen. */
const RULES: ReadonlyMap<string, NumberedRule> = new Map(
  RULE_LIST.map(([key, rule], index) => [key, { ...rule, bit: 1 << index }]),
);

/** Undefined when the request can be handed on; else how to refuse it. */
export function validateRequest(request: SipRequest): Fault | undefined {
  const fault = validateFields(request);
  if (fault !== undefined) return bad(fault);
  const uri = request.uriOrUndefined;
  if (uri === undefined) return bad('Malformed Request-URI');
  // §19.1.5: headers make no sense in a Request-URI and must not be obeyed.
  if (uri.kind === 'sip' && uri.headers !== '') return bad('Headers in Request-URI');
  if (request.cseq.method !== request.method) return bad('CSeq Method Does Not Match');
  if (request.body.length > 0 && request.header('content-type') === undefined) {
    return bad('Missing Content-Type');
  }
  return undefined;
}

/** Undefined when the response can be used; else why it has to be dropped (§18.1.2, §8.1.3). */
export const validateResponse = (response: SipResponse): string | undefined =>
  validateFields(response);

const bad = (reason: string): Fault => ({ status: 400, reason });

function validateFields(message: SipMessage): string | undefined {
  let seen = 0;
  let malformed: string | undefined;
  for (const { key, name, value } of message.fields) {
    const rule = RULES.get(key);
    if (rule === undefined) continue;
    if (rule.single && (seen & rule.bit) !== 0) return `Multiple ${name} Values`;
    seen |= rule.bit;
    if (rule.check?.(value) === false) malformed ??= `Malformed ${name}`;
  }
  return malformed ?? validateMandatory(message);
}

function validateMandatory(message: SipMessage): string | undefined {
  if (message.header('call-id') === undefined) return 'Missing Call-ID';
  if (message.fromOrUndefined === undefined) return missingOrMalformed(message, 'From');
  if (message.toOrUndefined === undefined) return missingOrMalformed(message, 'To');
  if (message.cseqOrUndefined === undefined) return missingOrMalformed(message, 'CSeq');
  if (message.topVia === undefined) return missingOrMalformed(message, 'Via');
  const vias = message.list('via');
  // The first one has been read.
  if (vias.length > 1 && vias.some((via) => parseVia(via) === undefined)) return 'Malformed Via';
  return message.contacts === undefined ? 'Malformed Contact' : undefined;
}

const missingOrMalformed = (message: SipMessage, name: string): string =>
  `${message.header(name) === undefined ? 'Missing' : 'Malformed'} ${name}`;
