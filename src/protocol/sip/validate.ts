/** Validates a complete message without knowledge of the user agent (RFC 3261 §8.1.1, §8.2, §18.3, §20). */
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
  /** True if the header may occur only once (§7.3.1, §20). */
  readonly single: boolean;
  readonly check: Check | undefined;
}

interface NumberedRule extends Rule {
  /** Unique bit of the rule. */
  readonly bit: number;
}

const everyNameAddr: Check = (value) =>
  splitList(value).every((element) => element === '' || parseNameAddr(element) !== undefined);

const SINGLE_UNCHECKED = [
  ...['from', 'to', 'cseq', 'content-length', 'event', 'min-expires', 'min-se', 'refer-to'],
  ...['referred-by', 'replaces', 'rack', 'rseq', 'session-expires', 'subscription-state'],
  ...['content-disposition', 'user-agent', 'timestamp', 'mime-version'],
];

/** Syntax rules of headers that every element needs; other headers are parsed by their users. */
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
/** Header fields of a response whose faults are ignored: nothing depends on them, or the requested Expires applies. */
const IGNORED_IN_RESPONSES: ReadonlySet<string> = new Set([
  'date',
  'expires',
  'max-forwards',
  'mime-version',
  'timestamp',
  'user-agent',
]);
/** Fewer than 32 rules, so that one number records the header fields seen. */
const RULES: ReadonlyMap<string, NumberedRule> = new Map(
  RULE_LIST.map(([key, rule], index) => [key, { ...rule, bit: 1 << index }]),
);

/** Returns undefined if the request is valid, otherwise its refusal. */
export function validateRequest(request: SipRequest): Fault | undefined {
  const fault = validateFields(request);
  if (fault !== undefined) return bad(fault);
  const uri = request.uriOrUndefined;
  if (uri === undefined) return bad('Malformed Request-URI');
  // Headers in a Request-URI have no meaning and must be ignored (§19.1.5).
  if (uri.kind === 'sip' && uri.headers !== '') return bad('Headers in Request-URI');
  if (request.cseq.method !== request.method) return bad('CSeq Method Does Not Match');
  if (request.body.length > 0 && request.header('content-type') === undefined) {
    return bad('Missing Content-Type');
  }
  return undefined;
}

/** Returns undefined if the response is valid, otherwise the reason for dropping it (§18.1.2, §8.1.3). */
export const validateResponse = (response: SipResponse): string | undefined =>
  validateFields(response);

const bad = (reason: string): Fault => ({ status: 400, reason });

function validateFields(message: SipMessage): string | undefined {
  let seen = 0;
  let malformed: string | undefined;
  for (const { key, name, value } of message.fields) {
    const rule = RULES.get(key);
    if (rule === undefined) continue;
    if (message.kind === 'response' && IGNORED_IN_RESPONSES.has(key)) continue;
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
  // `topVia` has already checked the first one.
  if (vias.length > 1 && vias.some((via) => parseVia(via) === undefined)) return 'Malformed Via';
  return message.contacts === undefined ? 'Malformed Contact' : undefined;
}

const missingOrMalformed = (message: SipMessage, name: string): string =>
  `${message.header(name) === undefined ? 'Missing' : 'Malformed'} ${name}`;
