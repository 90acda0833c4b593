/**
 * Immutable SIP messages (RFC 3261 §7): raw header text and typed headers, which are parsed on first access. The
 * getters of mandatory headers require a message that passed `validateRequest` or `validateResponse`.
 */
import {
  type HeaderField,
  type HeaderInit,
  headerField,
  replaced,
  without,
  withTop,
} from './header/field.ts';
import { type NameAddr, parseNameAddr } from './header/name-addr.ts';
import { type Lazy, Message, mandatory } from './message-base.ts';
import { reasonPhrase } from './reason-phrase.ts';
import { parseUri, type Uri } from './uri.ts';

export type { HeaderField, HeaderInit } from './header/field.ts';

export const NO_BODY: Uint8Array = new Uint8Array(0);

export class SipRequest extends Message {
  readonly kind = 'request';
  readonly method: string;
  /** Request-URI as on the wire. */
  readonly requestUri: string;
  #uri: Lazy<Uri> = null;

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

  /** Undefined if malformed. */
  get uriOrUndefined(): Uri | undefined {
    if (this.#uri === null) this.#uri = parseUri(this.requestUri);
    return this.#uri;
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
    return this.#with(this.fields.concat(headerField(name, value)));
  }

  /** Adds a line at the top: Via, Record-Route. */
  withPrependedHeader(name: string, value: string): SipRequest {
    return this.#with([headerField(name, value)].concat(this.fields));
  }

  /** Replaces the first element of a list header, such as the topmost Via. */
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
  /** Status code in 100…699. */
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

  /** A response that loses a malformed contact still ends or answers its request. */
  protected override readContacts(values: readonly string[]): readonly NameAddr[] {
    return values.map(parseNameAddr).filter((contact) => contact !== undefined);
  }

  withHeader(name: string, value: string): SipResponse {
    return this.#with(replaced(this.fields, name, value));
  }

  withAddedHeader(name: string, value: string): SipResponse {
    return this.#with(this.fields.concat(headerField(name, value)));
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
  /** Headers in the order of writing, Via first. The serializer adds Content-Length. */
  readonly headers: HeaderInit;
  readonly body?: Uint8Array | string | undefined;
}

export const createRequest = (parts: RequestParts): SipRequest =>
  new SipRequest(
    parts.method,
    parts.requestUri,
    parts.headers.map(([name, value]) => headerField(name, value)),
    bodyBytes(parts.body),
  );

export interface ResponseParts {
  /** Reason phrase. Default: the phrase of the registry. */
  readonly reason?: string | undefined;
  /** Tag for To if the request's To has none. Every response except 100 needs one (§8.2.6.2). */
  readonly toTag?: string;
  readonly headers?: HeaderInit;
  readonly body?: Uint8Array | string | undefined;
}

const TO = 1;
/** Bit for each header field that may occur only once. */
const SINGLE = new Map([
  ['to', TO],
  ['from', 2],
  ['call-id', 4],
  ['cseq', 8],
]);

/** Returns whether a response copies that header field from the request. */
function isAnswered(key: string, status: number): boolean {
  if (key === 'timestamp') return status === 100;
  if (key === 'record-route') return status > 100 && status < 300;
  return key === 'via' || SINGLE.has(key);
}

/**
 * Creates a response (RFC 3261 §8.2.6). Via, From, To, Call-ID and CSeq are copied as text, so malformed requests can
 * be answered too. Timestamp is copied into a 100, Record-Route into responses that may create a dialog (§12.1.1).
 */
export function createResponse(
  request: SipRequest,
  status: number,
  parts: ResponseParts = {},
): SipResponse {
  const fields: HeaderField[] = [];
  // Single fields are copied only once, because a malformed request may repeat them hundreds of times.
  let seen = 0;
  for (const field of request.fields) {
    const bit = SINGLE.get(field.key) ?? 0;
    if ((seen & bit) !== 0 || !isAnswered(field.key, status)) continue;
    seen |= bit;
    const isTagged = bit === TO && status !== 100;
    fields.push(isTagged ? withToTag(field, request, parts.toTag) : field);
  }
  for (const [name, value] of parts.headers ?? []) fields.push(headerField(name, value));
  const reason = parts.reason?.replace(/[\r\n]+/g, ' ') ?? reasonPhrase(status);
  return new SipResponse(status, reason, fields, bodyBytes(parts.body));
}

function withToTag(to: HeaderField, request: SipRequest, tag: string | undefined): HeaderField {
  if (tag === undefined || request.toOrUndefined?.tag !== undefined) return to;
  return { name: to.name, key: to.key, value: `${to.value};tag=${tag}` };
}

const bodyBytes = (body: Uint8Array | string | undefined): Uint8Array =>
  typeof body === 'string' ? Buffer.from(body, 'utf8') : (body ?? NO_BODY);
