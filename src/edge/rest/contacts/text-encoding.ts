/**
 * Converts an upload to UTF-8. The encoding comes from the byte order mark, else the declared charset, else the first
 * non-ASCII character: if that is not UTF-8, the list is Windows-1252 (a superset of Latin-1).
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { ListFault } from './reader.ts';

type Encoding = 'undecided' | 'ascii' | 'utf-8' | 'decoder';

/** Bytes that Windows-1252 does not define. */
const UNDEFINED_1252 = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);
const REPLACEMENT = '\ufffd';
const LF = 0x0a;
const CR = 0x0d;

export class TextEncoding {
  readonly #declared: string | undefined;
  #encoding: Encoding = 'undecided';
  #decoder: TextDecoder | undefined;
  /** Bytes of an unfinished character, or of a possible byte order mark. */
  #carried: Uint8Array = new Uint8Array();
  #line = 1;
  #endsWithCr = false;

  /** `charset`: as the upload declares it; undefined or UTF-8: detected. Throws `ListFault` for an unknown one. */
  constructor(charset: string | undefined) {
    const label = charset?.trim().toLowerCase();
    this.#declared = label === undefined || /^utf-?8$/.test(label) ? undefined : label;
    if (this.#declared !== undefined) decoderFor(this.#declared);
  }

  /** Returns the characters that these bytes complete, as UTF-8. Throws `ListFault` with the line of undecodable bytes. */
  write(bytes: Uint8Array): Uint8Array {
    return this.#convert(joined(this.#carried, bytes), false);
  }

  /** Returns the remaining characters. Throws `ListFault` when the last one is incomplete. */
  end(): Uint8Array {
    return this.#convert(this.#carried, true);
  }

  #convert(bytes: Uint8Array, isLast: boolean): Uint8Array {
    this.#carried = new Uint8Array();
    if (this.#encoding === 'undecided' && !this.#decide(bytes, isLast)) return new Uint8Array();
    if (this.#encoding === 'decoder') return this.#decoded(bytes, isLast);
    const whole = isLast ? bytes.length : wholeLength(bytes);
    this.#carried = bytes.slice(whole);
    const text = bytes.subarray(0, whole);
    if (this.#encoding === 'ascii' && !isAscii(text)) {
      const first = text.findIndex((byte) => byte >= 0x80);
      const isUnicode = isUtf8(text.subarray(first, first + lengthOf(text[first] ?? 0)));
      if (!isUnicode) return this.#use('windows-1252', joined(text, this.#carried), isLast);
      this.#encoding = 'utf-8';
    }
    if (!isUtf8(text)) this.#refuse(text, (line) => !isUtf8(line));
    this.#count(text);
    return text;
  }

  /** Returns false while the bytes are too few to see a byte order mark. */
  #decide(bytes: Uint8Array, isLast: boolean): boolean {
    if (bytes.length < 3 && !isLast) {
      this.#carried = bytes;
      return false;
    }
    const label = wideEncoding(bytes) ?? (hasUtf8Mark(bytes) ? undefined : this.#declared);
    this.#encoding = hasUtf8Mark(bytes) ? 'utf-8' : 'ascii';
    if (label !== undefined) {
      this.#encoding = 'decoder';
      this.#decoder = decoderFor(label);
    }
    return true;
  }

  #use(label: string, bytes: Uint8Array, isLast: boolean): Uint8Array {
    this.#encoding = 'decoder';
    this.#decoder = decoderFor(label);
    this.#carried = new Uint8Array();
    return this.#decoded(bytes, isLast);
  }

  #decoded(bytes: Uint8Array, isLast: boolean): Uint8Array {
    const is1252 = this.#decoder?.encoding === 'windows-1252';
    const isUndefined = (byte: number): boolean => UNDEFINED_1252.has(byte);
    if (is1252 && bytes.some(isUndefined)) this.#refuse(bytes, (line) => line.some(isUndefined));
    const text = Buffer.from(this.#decoder?.decode(bytes, { stream: !isLast }) ?? '', 'utf8');
    if (text.includes(REPLACEMENT)) this.#refuse(text, (line) => line.includes(REPLACEMENT));
    this.#count(text);
    return text;
  }

  /** Throws with the number of the first line that `isBad`. */
  #refuse(text: Uint8Array, isBad: (line: Buffer) => boolean): never {
    let from = 0;
    for (let at = 0; at <= text.length; at += 1) {
      if (at < text.length && text[at] !== LF && text[at] !== CR) continue;
      if (isBad(Buffer.from(text.subarray(from, at)))) break;
      from = at;
    }
    this.#count(text.subarray(0, Math.min(text.length, from + 1)));
    throw new ListFault(
      `has characters in line ${this.#line} that are not valid in its encoding: save it as UTF-8`,
    );
  }

  #count(text: Uint8Array): void {
    for (const byte of text) {
      if (byte === CR || (byte === LF && !this.#endsWithCr)) this.#line += 1;
      this.#endsWithCr = byte === CR;
    }
  }
}

function decoderFor(label: string): TextDecoder {
  try {
    return new TextDecoder(label);
  } catch {
    throw new ListFault(`has the unknown charset ${label.slice(0, 40)}`);
  }
}

/** Detects UTF-16 by its byte order mark, or by the zero bytes around a first ASCII character. */
function wideEncoding([first, second]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (first !== 0 && second === 0) return 'utf-16le';
  return first === 0 && second !== 0 && second !== undefined ? 'utf-16be' : undefined;
}

const hasUtf8Mark = (bytes: Uint8Array): boolean =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;

/** Returns the length of the UTF-8 sequence that starts with the byte, or 1 if none does. */
const lengthOf = (lead: number): number =>
  lead >= 0xf0 && lead < 0xf8 ? 4 : lead >= 0xe0 ? (lead < 0xf0 ? 3 : 1) : lead >= 0xc0 ? 2 : 1;

/** Returns the length without an incomplete UTF-8 sequence at the end. */
function wholeLength(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes.length;
    if (byte >= 0xc0) return lengthOf(byte) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function joined(before: Uint8Array, bytes: Uint8Array): Uint8Array {
  if (before.length === 0) return bytes;
  return bytes.length === 0 ? before : Buffer.concat([before, bytes]);
}
