/** What requests and responses share: raw header text plus typed headers parsed when first asked for. */
import { BugError } from '../../base/errors.ts';
import { type CSeq, parseCSeq } from './header/cseq.ts';
import type { HeaderField } from './header/field.ts';
import { type NameAddr, parseNameAddr } from './header/name-addr.ts';
import { headerKey } from './header/names.ts';
import { parseDecimal, splitList } from './header/text.ts';
import { type MediaType, parseDeltaSeconds, parseMediaType } from './header/values.ts';
import { parseVia, type Via } from './header/via.ts';

/** `{ value }` once computed; distinguishes "not yet" from "absent". */
export type Lazy<T> = { readonly value: T } | undefined;

export abstract class Message {
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
    return this.#first(headerKey(name));
  }

  #first(key: string): string | undefined {
    for (const field of this.fields) if (field.key === key) return field.value;
    return undefined;
  }

  /** Values of all lines of that name, undivided. */
  headers(name: string): readonly string[] {
    return this.#all(headerKey(name));
  }

  #all(key: string): readonly string[] {
    const out: string[] = [];
    for (const field of this.fields) if (field.key === key) out.push(field.value);
    return out;
  }

  /** Elements of a comma-separated header over all its lines, in order; empty elements dropped. */
  list(name: string): readonly string[] {
    return elementsOf(this.headers(name));
  }

  /** Tokens of `Require`, `Supported`, `Allow`, … in lower case. */
  tokens(name: string): readonly string[] {
    return this.list(name).map((token) => token.toLowerCase());
  }

  /** The topmost Via; undefined when absent or malformed. */
  get topVia(): Via | undefined {
    this.#via ??= { value: parseVia(splitList(this.#first('via') ?? '')[0] ?? '') };
    return this.#via.value;
  }

  get via(): Via {
    return mandatory(this.topVia, 'Via');
  }

  get fromOrUndefined(): NameAddr | undefined {
    this.#from ??= { value: parsed(this.#first('from'), parseNameAddr) };
    return this.#from.value;
  }

  get from(): NameAddr {
    return mandatory(this.fromOrUndefined, 'From');
  }

  get toOrUndefined(): NameAddr | undefined {
    this.#to ??= { value: parsed(this.#first('to'), parseNameAddr) };
    return this.#to.value;
  }

  get to(): NameAddr {
    return mandatory(this.toOrUndefined, 'To');
  }

  get cseqOrUndefined(): CSeq | undefined {
    this.#cseq ??= { value: parsed(this.#first('cseq'), parseCSeq) };
    return this.#cseq.value;
  }

  get cseq(): CSeq {
    return mandatory(this.cseqOrUndefined, 'CSeq');
  }

  get callId(): string {
    return mandatory(this.#first('call-id'), 'Call-ID');
  }

  /** All contacts, `*`, or undefined when any is malformed. No Contact at all: an empty list. */
  get contacts(): readonly NameAddr[] | '*' | undefined {
    this.#contacts ??= { value: readContacts(elementsOf(this.#all('contact'))) };
    return this.#contacts.value;
  }

  /** The remote target of a dialog: the only Contact. */
  get contact(): NameAddr | undefined {
    const contacts = this.contacts;
    return contacts === '*' ? undefined : contacts?.[0];
  }

  get route(): readonly NameAddr[] | undefined {
    return nameAddrs(elementsOf(this.#all('route')));
  }

  get recordRoute(): readonly NameAddr[] | undefined {
    return nameAddrs(elementsOf(this.#all('record-route')));
  }

  /** 0…255; undefined when absent or malformed. */
  get maxForwards(): number | undefined {
    return parsed(this.#first('max-forwards'), (text) => parseDecimal(text, 255));
  }

  /** Seconds; undefined when absent or malformed. */
  get expires(): number | undefined {
    return parsed(this.#first('expires'), parseDeltaSeconds);
  }

  get contentType(): MediaType | undefined {
    return parsed(this.#first('content-type'), parseMediaType);
  }

  /** The body as UTF-8 text. */
  get bodyText(): string {
    return Buffer.from(this.body.buffer, this.body.byteOffset, this.body.byteLength).toString(
      'utf8',
    );
  }
}

export function mandatory<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new BugError(`${name} read from a message that was not validated`);
  return value;
}

function elementsOf(values: readonly string[]): readonly string[] {
  const out: string[] = [];
  for (const value of values)
    for (const element of splitList(value)) if (element !== '') out.push(element);
  return out;
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
