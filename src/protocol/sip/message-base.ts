/** Common part of requests and responses: raw header text and typed headers, which are parsed on first access. */
import { BugError } from '../../base/errors.ts';
import { type CSeq, parseCSeq } from './header/cseq.ts';
import type { HeaderField } from './header/field.ts';
import { type NameAddr, parseNameAddr } from './header/name-addr.ts';
import { headerKey } from './header/names.ts';
import { parseDecimal, splitList } from './header/text.ts';
import { type MediaType, parseDeltaSeconds, parseMediaType } from './header/values.ts';
import { parseVia, type Via } from './header/via.ts';

/** Null until computed; undefined if absent. */
export type Lazy<T> = T | undefined | null;

const NONE: readonly never[] = [];

export abstract class Message {
  readonly fields: readonly HeaderField[];
  /** Body as received; the consumer decodes text bodies. */
  readonly body: Uint8Array;
  #via: Lazy<Via> = null;
  #from: Lazy<NameAddr> = null;
  #to: Lazy<NameAddr> = null;
  #cseq: Lazy<CSeq> = null;
  #contacts: Lazy<readonly NameAddr[] | '*'> = null;
  #text: string | undefined;

  constructor(fields: readonly HeaderField[], body: Uint8Array) {
    this.fields = fields;
    this.body = body;
  }

  /** Value of the first line of that name (any case, compact or long). */
  header(name: string): string | undefined {
    return this.#first(headerKey(name));
  }

  #first(key: string): string | undefined {
    for (const field of this.fields) if (field.key === key) return field.value;
    return undefined;
  }

  /** Values of all lines of that name, not split at commas. */
  headers(name: string): readonly string[] {
    const key = headerKey(name);
    return this.fields.filter((field) => field.key === key).map(({ value }) => value);
  }

  /** Elements of a comma-separated header from all its lines, in order, without empty elements. */
  list(name: string): readonly string[] {
    return this.#elements(headerKey(name));
  }

  /** Fast path: most headers occur at most once. */
  #elements(key: string): readonly string[] {
    let out: readonly string[] = NONE;
    for (const field of this.fields) {
      if (field.key !== key) continue;
      const found = elementsOf(field.value);
      out = out === NONE ? found : [...out, ...found];
    }
    return out;
  }

  /** Tokens of `Require`, `Supported`, `Allow`, … in lower case. */
  tokens(name: string): readonly string[] {
    return this.list(name).map((token) => token.toLowerCase());
  }

  /** Topmost Via, or undefined if absent or malformed. */
  get topVia(): Via | undefined {
    if (this.#via === null) this.#via = parseVia(firstElement(this.#first('via') ?? ''));
    return this.#via;
  }

  get via(): Via {
    return mandatory(this.topVia, 'Via');
  }

  get fromOrUndefined(): NameAddr | undefined {
    if (this.#from === null) this.#from = parsed(this.#first('from'), parseNameAddr);
    return this.#from;
  }

  get from(): NameAddr {
    return mandatory(this.fromOrUndefined, 'From');
  }

  get toOrUndefined(): NameAddr | undefined {
    if (this.#to === null) this.#to = parsed(this.#first('to'), parseNameAddr);
    return this.#to;
  }

  get to(): NameAddr {
    return mandatory(this.toOrUndefined, 'To');
  }

  get cseqOrUndefined(): CSeq | undefined {
    if (this.#cseq === null) this.#cseq = parsed(this.#first('cseq'), parseCSeq);
    return this.#cseq;
  }

  get cseq(): CSeq {
    return mandatory(this.cseqOrUndefined, 'CSeq');
  }

  get callId(): string {
    return mandatory(this.#first('call-id'), 'Call-ID');
  }

  /**
   * All contacts, or `*`. An empty list if there is no Contact. With a malformed one: undefined in a request, the valid
   * ones in a response.
   */
  get contacts(): readonly NameAddr[] | '*' | undefined {
    if (this.#contacts === null) this.#contacts = this.readContacts(this.#elements('contact'));
    return this.#contacts;
  }

  protected readContacts(values: readonly string[]): readonly NameAddr[] | '*' | undefined {
    return values.length === 1 && values[0] === '*' ? '*' : nameAddrs(values);
  }

  /** Remote target of a dialog: the only Contact. */
  get contact(): NameAddr | undefined {
    const contacts = this.contacts;
    return contacts === '*' ? undefined : contacts?.[0];
  }

  get route(): readonly NameAddr[] | undefined {
    return nameAddrs(this.#elements('route'));
  }

  get recordRoute(): readonly NameAddr[] | undefined {
    return nameAddrs(this.#elements('record-route'));
  }

  /** Value in 0…255, or undefined if absent or malformed. */
  get maxForwards(): number | undefined {
    return parsed(this.#first('max-forwards'), (text) => parseDecimal(text, 255));
  }

  /** Value in seconds, or undefined if absent or malformed. */
  get expires(): number | undefined {
    return parsed(this.#first('expires'), parseDeltaSeconds);
  }

  get contentType(): MediaType | undefined {
    return parsed(this.#first('content-type'), parseMediaType);
  }

  /** Body as UTF-8 text. */
  get bodyText(): string {
    const { buffer, byteOffset, byteLength } = this.body;
    this.#text ??= Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
    return this.#text;
  }
}

export function mandatory<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new BugError(`${name} read from a message that was not validated`);
  return value;
}

const firstElement = (value: string): string =>
  value.includes(',') ? (splitList(value)[0] ?? '') : value;

function elementsOf(value: string): readonly string[] {
  if (value.includes(',')) return splitList(value).filter((element) => element !== '');
  return value === '' ? NONE : [value];
}

const parsed = <T>(text: string | undefined, parse: (text: string) => T | undefined) =>
  text === undefined ? undefined : parse(text);

/** Returns undefined if any element is malformed. */
function nameAddrs(values: readonly string[]): readonly NameAddr[] | undefined {
  if (values.length === 0) return NONE;
  const out: NameAddr[] = [];
  for (const value of values) {
    const address = parseNameAddr(value);
    if (address === undefined) return undefined;
    out.push(address);
  }
  return out;
}
