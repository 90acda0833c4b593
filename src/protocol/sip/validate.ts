/** Faults of a whole message that need no knowledge of the user agent (RFC 3261 §8.1.1, §8.2, §18.3, §20). */
import { parseNameAddr } from './header/name-addr.ts';
import { splitList } from './header/text.ts';
import { isSipDate, parseDeltaSeconds, parseMediaType } from './header/values.ts';
import { parseVia } from './header/via.ts';
import type { HeaderField, SipMessage, SipRequest, SipResponse } from './message.ts';

export interface Fault {
  readonly status: number;
  /** Reason phrase that names the header. */
  readonly reason: string;
}

/** Headers that may stand once only (§7.3.1, §20). */
const SINGLE = new Set([
  ...['from', 'to', 'call-id', 'cseq', 'max-forwards', 'content-length', 'content-type', 'expires'],
  ...['date', 'event', 'min-expires', 'min-se', 'refer-to', 'referred-by', 'replaces', 'rack'],
  ...['rseq', 'session-expires', 'subscription-state', 'content-disposition', 'user-agent'],
  ...['timestamp', 'mime-version'],
]);

const MANDATORY = ['via', 'from', 'to', 'call-id', 'cseq'] as const;

type Check = (value: string) => boolean;

const everyNameAddr: Check = (value) =>
  splitList(value).every((element) => element === '' || parseNameAddr(element) !== undefined);

/** Syntax of headers that everybody has to understand. Others are read by whoever needs them. */
const SYNTAX: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['via', (value) => splitList(value).every((element) => parseVia(element) !== undefined)],
  ['route', everyNameAddr],
  ['record-route', everyNameAddr],
  ['call-id', (value) => value !== '' && !/[ \t]/.test(value)],
  ['max-forwards', (value) => /^0*[0-9]{1,3}$/.test(value) && Number(value) <= 255],
  ['expires', (value) => parseDeltaSeconds(value) !== undefined],
  ['date', isSipDate],
  ['content-type', (value) => parseMediaType(value) !== undefined],
]);

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
  const repeated = repeatedField(message.fields);
  if (repeated !== undefined) return `Multiple ${repeated} Values`;
  for (const key of MANDATORY) {
    if (!message.fields.some((field) => field.key === key)) return `Missing ${NAME[key]}`;
  }
  for (const field of message.fields) {
    if (SYNTAX.get(field.key)?.(field.value) === false) return `Malformed ${field.name}`;
  }
  if (message.fromOrUndefined === undefined) return 'Malformed From';
  if (message.toOrUndefined === undefined) return 'Malformed To';
  if (message.cseqOrUndefined === undefined) return 'Malformed CSeq';
  if (message.contacts === undefined) return 'Malformed Contact';
  return undefined;
}

const NAME: Readonly<Record<(typeof MANDATORY)[number], string>> = {
  via: 'Via',
  from: 'From',
  to: 'To',
  'call-id': 'Call-ID',
  cseq: 'CSeq',
};

/** Name of the first single-valued header that stands twice. */
function repeatedField(fields: readonly HeaderField[]): string | undefined {
  const seen = new Set<string>();
  for (const { key, name } of fields) {
    if (!SINGLE.has(key)) continue;
    if (seen.has(key)) return name;
    seen.add(key);
  }
  return undefined;
}
