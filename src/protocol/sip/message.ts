/**
 * SIP messages (RFC 3261 §7): immutable, raw header text plus typed headers parsed when first asked for.
 * The getters of mandatory headers rely on `validateRequest` / `validateResponse` having passed.
 */
import { assert, BugError } from '../../base/errors.ts';
import { type CSeq, parseCSeq } from './header/cseq.ts';
import { type NameAddr, parseNameAddr } from './header/name-addr.ts';
import { headerKey, headerName } from './header/names.ts';
import { parseDecimal, splitList } from './header/text.ts';
import { type MediaType, parseDeltaSeconds, parseMediaType } from './header/values.ts';
import { parseVia, type Via } from './header/via.ts';
import { reasonPhrase } from './reason-phrase.ts';
import { parseUri, type Uri } from './uri.ts';

/** One header line: `name` as received, `key` in lower case and long form, `value` unfolded and trimmed. */
export interface HeaderField {
  readonly name: string;
  readonly key: string;
  readonly value: string;
}

export type HeaderInit = readonly (readonly [name: string, value: string])[];

export const NO_BODY: Uint8Array = new Uint8Array(0);

/** A header field of our own. The value must be free of line breaks: a break would forge a header. */
export function headerField(name: string, value: string): HeaderField {
  assert(!/[\r\n]/.test(value), `line break in the value of ${name}`);
  return { name: headerName(name), key: headerKey(name), value };
}

/** `{ value }` once computed; distinguishes "not yet" from "absent". */
type Lazy<T> = { readonly value: T } | undefined;

abstract class Message {
  readonly fields: readonly HeaderField[];
  /** Bytes as received; text bodies are decoded by whoever understands them. */
  readonly body: Uint8Array;
  #via: Lazy<Via | undefined>;
  #from: Lazy<NameAddr | undefined>;
  #to: Lazy<NameAddr | undefined>;
  #cseq: Lazy<CSeq | undefined>;
  #contacts: Lazy<readonly NameAddr[] | '*' | undefined>;

  constructor(fields: readonly HeaderField[], body: Uint8Array) {
    this.fields = fields;
    this.body = body;
  }

  /** Value of the first line of that name (any case, compact or long). */
  header(name: string): string | undefined {
    const key = headerKey(name);
    for (const field of this.fields) if (field.key === key) return field.value;
    return undefined;
  }

  /** Values of all lines of that name, undivided. */
  headers(name: string): readonly string[] {
    const key = headerKey(name);
    const out: string[] = [];
    for (const field of this.fields) if (field.key === key) out.push(field.value);
    return out;
  }

  /** Elements of a comma-separated header over all its lines, in order; empty elements dropped. */
  list(name: string): readonly string[] {
    const out: string[] = [];
    for (const value of this.headers(name)) {
      for (const element of splitList(value)) if (element !== '') out.push(element);
    }
    return out;
  }

  /** Tokens of `Require`, `Supported`, `Allow`, … in lower case. */
  tokens(name: string): readonly string[] {
    return this.list(name).map((token) => token.toLowerCase());
  }

  /** The topmost Via; undefined when absent or malformed. */
  get topVia(): Via | undefined {
    this.#via ??= { value: parseVia(splitList(this.header('via') ?? '')[0] ?? '') };
    return this.#via.value;
  }

  get via(): Via {
    return mandatory(this.topVia, 'Via');
  }

  get fromOrUndefined(): NameAddr | undefined {
    this.#from ??= { value: parsed(this.header('from'), parseNameAddr) };
    return this.#from.value;
  }

  get from(): NameAddr {
    return mandatory(this.fromOrUndefined, 'From');
  }

  get toOrUndefined(): NameAddr | undefined {
    this.#to ??= { value: parsed(this.header('to'), parseNameAddr) };
    return this.#to.value;
  }

  get to(): NameAddr {
    return mandatory(this.toOrUndefined, 'To');
  }

  get cseqOrUndefined(): CSeq | undefined {
    this.#cseq ??= { value: parsed(this.header('cseq'), parseCSeq) };
    return this.#cseq.value;
  }

  get cseq(): CSeq {
    return mandatory(this.cseqOrUndefined, 'CSeq');
  }

  get callId(): string {
    return mandatory(this.header('call-id'), 'Call-ID');
  }

  /** All contacts, `*`, or undefined when any is malformed. No Contact at all: an empty list. */
  get contacts(): readonly NameAddr[] | '*' | undefined {
    this.#contacts ??= { value: readContacts(this.list('contact')) };
    return this.#contacts.value;
  }

  /** The remote target of a dialog: the only Contact. */
  get contact(): NameAddr | undefined {
    const contacts = this.contacts;
    return contacts === '*' ? undefined : contacts?.[0];
  }

  get route(): readonly NameAddr[] | undefined {
    return nameAddrs(this.list('route'));
  }

  get recordRoute(): readonly NameAddr[] | undefined {
    return nameAddrs(this.list('record-route'));
  }

  /** 0…255; undefined when absent or malformed. */
  get maxForwards(): number | undefined {
    return parsed(this.header('max-forwards'), (text) => parseDecimal(text, 255));
  }

  /** Seconds; undefined when absent or malformed. */
  get expires(): number | undefined {
    return parsed(this.header('expires'), parseDeltaSeconds);
  }

  get contentType(): MediaType | undefined {
    return parsed(this.header('content-type'), parseMediaType);
  }

  /** The body as UTF-8 text. */
  get bodyText(): string {
    return Buffer.from(this.body.buffer, this.body.byteOffset, this.body.byteLength).toString(
      'utf8',
    );
  }
}

function mandatory<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new BugError(`${name} read from a message that was not validated`);
  return value;
}

const parsed = <T>(text: string | undefined, parse: (text: string) => T | undefined) =>
  text === undefined ? undefined : parse(text);

function readContacts(values: readonly string[]): readonly NameAddr[] | '*' | undefined {
  return values.length === 1 && values[0] === '*' ? '*' : nameAddrs(values);
}

/** Undefined when any element is malformed. */
function nameAddrs(values: readonly string[]): readonly NameAddr[] | undefined {
  const out: NameAddr[] = [];
  for (const value of values) {
    const address = parseNameAddr(value);
    if (address === undefined) return undefined;
    out.push(address);
  }
  return out;
}

/** Fields with every line of `name` replaced by one, at the place of the first (or at the end). */
function replaced(fields: readonly HeaderField[], name: string, value: string): HeaderField[] {
  const field = headerField(name, value);
  const at = fields.findIndex((other) => other.key === field.key);
  const out = fields.filter((other, index) => other.key !== field.key || index === at);
  if (at === -1) out.push(field);
  else out[at] = field;
  return out;
}

const without = (fields: readonly HeaderField[], name: string): HeaderField[] => {
  const key = headerKey(name);
  return fields.filter((field) => field.key !== key);
};

/** The top element of a list header replaced; the other elements of its line move to a line of their own. */
function withTop(fields: readonly HeaderField[], name: string, value: string): HeaderField[] {
  const top = headerField(name, value);
  const at = fields.findIndex((field) => field.key === top.key);
  const out = [...fields];
  if (at === -1) return [top, ...out];
  const rest = splitList(fields[at]?.value ?? '').slice(1);
  const tail = rest.length === 0 ? [] : [headerField(name, rest.join(', '))];
  out.splice(at, 1, top, ...tail);
  return out;
}

export class SipRequest extends Message {
  readonly kind = 'request';
  readonly method: string;
  /** Request-URI as on the wire. */
  readonly requestUri: string;
  #uri: Lazy<Uri | undefined>;

  constructor(
    method: string,
    requestUri: string,
    fields: readonly HeaderField[],
    body: Uint8Array = NO_BODY,
  ) {
    super(fields, body);
    this.method = method;
    this.requestUri = requestUri;
  }

  /** Undefined when malformed. */
  get uriOrUndefined(): Uri | undefined {
    this.#uri ??= { value: parseUri(this.requestUri) };
    return this.#uri.value;
  }

  get uri(): Uri {
    return mandatory(this.uriOrUndefined, 'Request-URI');
  }

  /** Replaces all lines of that name by one. */
  withHeader(name: string, value: string): SipRequest {
    return this.#with(replaced(this.fields, name, value));
  }

  /** Adds a line at the end. */
  withAddedHeader(name: string, value: string): SipRequest {
    return this.#with([...this.fields, headerField(name, value)]);
  }

  /** Adds a line at the top: Via, Record-Route. */
  withPrependedHeader(name: string, value: string): SipRequest {
    return this.#with([headerField(name, value), ...this.fields]);
  }

  /** Replaces the first element of a list header, the topmost Via above all. */
  withTopHeader(name: string, value: string): SipRequest {
    return this.#with(withTop(this.fields, name, value));
  }

  withoutHeader(name: string): SipRequest {
    return this.#with(without(this.fields, name));
  }

  withRequestUri(requestUri: string): SipRequest {
    return new SipRequest(this.method, requestUri, this.fields, this.body);
  }

  withBody(body: Uint8Array, contentType: string): SipRequest {
    const fields = replaced(this.fields, 'Content-Type', contentType);
    return new SipRequest(this.method, this.requestUri, fields, body);
  }

  #with(fields: readonly HeaderField[]): SipRequest {
    return new SipRequest(this.method, this.requestUri, fields, this.body);
  }
}

export class SipResponse extends Message {
  readonly kind = 'response';
  /** 100…699. */
  readonly status: number;
  readonly reason: string;

  constructor(
    status: number,
    reason: string,
    fields: readonly HeaderField[],
    body: Uint8Array = NO_BODY,
  ) {
    super(fields, body);
    this.status = status;
    this.reason = reason;
  }

  withHeader(name: string, value: string): SipResponse {
    return this.#with(replaced(this.fields, name, value));
  }

  withAddedHeader(name: string, value: string): SipResponse {
    return this.#with([...this.fields, headerField(name, value)]);
  }

  withoutHeader(name: string): SipResponse {
    return this.#with(without(this.fields, name));
  }

  withBody(body: Uint8Array, contentType: string): SipResponse {
    const fields = replaced(this.fields, 'Content-Type', contentType);
    return new SipResponse(this.status, this.reason, fields, body);
  }

  #with(fields: readonly HeaderField[]): SipResponse {
    return new SipResponse(this.status, this.reason, fields, this.body);
  }
}

export type SipMessage = SipRequest | SipResponse;

export interface RequestParts {
  readonly method: string;
  readonly requestUri: string;
  /** Written in this order: Via first. Content-Length is written by the serialiser. */
  readonly headers: HeaderInit;
  readonly body?: Uint8Array | string;
}

export const createRequest = (parts: RequestParts): SipRequest =>
  new SipRequest(
    parts.method,
    parts.requestUri,
    parts.headers.map(([name, value]) => headerField(name, value)),
    bodyBytes(parts.body),
  );

export interface ResponseParts {
  /** Default: the phrase of the registry. */
  readonly reason?: string;
  /** Put on To when the request's To has none. Every response but 100 needs one (§8.2.6.2). */
  readonly toTag?: string;
  readonly headers?: HeaderInit;
  readonly body?: Uint8Array | string;
}

/**
 * A response per RFC 3261 §8.2.6: Via, From, To, Call-ID and CSeq copied as text (so that even a malformed request
 * can be answered), Timestamp into a 100, Record-Route into what may create a dialog (§12.1.1).
 */
export function createResponse(
  request: SipRequest,
  status: number,
  parts: ResponseParts = {},
): SipResponse {
  const fields: HeaderField[] = [];
  for (const field of request.fields) {
    switch (field.key) {
      case 'via':
      case 'from':
      case 'call-id':
      case 'cseq':
        fields.push(field);
        break;
      case 'to':
        fields.push(status === 100 ? field : withToTag(field, request, parts.toTag));
        break;
      case 'timestamp':
        if (status === 100) fields.push(field);
        break;
      case 'record-route':
        if (status > 100 && status < 300) fields.push(field);
        break;
    }
  }
  for (const [name, value] of parts.headers ?? []) fields.push(headerField(name, value));
  const reason = parts.reason ?? reasonPhrase(status);
  return new SipResponse(status, reason.replace(/[\r\n]+/g, ' '), fields, bodyBytes(parts.body));
}

function withToTag(to: HeaderField, request: SipRequest, tag: string | undefined): HeaderField {
  if (tag === undefined || request.toOrUndefined?.tag !== undefined) return to;
  return { ...to, value: `${to.value};tag=${tag}` };
}

const bodyBytes = (body: Uint8Array | string | undefined): Uint8Array =>
  typeof body === 'string' ? Buffer.from(body, 'utf8') : (body ?? NO_BODY);
