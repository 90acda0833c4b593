/**
 * Checks that a text is a well-formed XML 1.0 document without DOCTYPE, with one root and limited size. fast-xml-parser
 * builds the tree but accepts text that XML forbids: a bare `&` or `<` in an attribute, two roots, undefined entities.
 * This check therefore reads the whole document first, following the grammar of the recommendation.
 */
import { MAX_ATTRIBUTES, MAX_DEPTH, MAX_DOCUMENT_BYTES, MAX_ELEMENTS } from './limits.ts';
import { DocumentRefused, type Offset } from './problem.ts';

// XML 1.0 (fifth edition) §2.3 [4] and [4a].
const NAME_START =
  ':A-Z_a-z\\u00C0-\\u00D6\\u00D8-\\u00F6\\u00F8-\\u02FF\\u0370-\\u037D\\u037F-\\u1FFF\\u200C\\u200D\\u2070-\\u218F\\u2C00-\\u2FEF\\u3001-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFFD\\u{10000}-\\u{EFFFF}';
const NAME = new RegExp(
  `[${NAME_START}][${NAME_START}\\-.0-9\\u00B7\\u0300-\\u036F\\u203F-\\u2040]*`,
  'uy',
);
const SPACE = /[ \t\r\n]+/y;
const EQUALS = /[ \t\r\n]*=[ \t\r\n]*/y;
const QUOTED = /"[^"<]*"|'[^'<]*'/y;
const REFERENCE = /&(?:amp|lt|gt|quot|apos|#([0-9]+)|#x([0-9a-fA-F]+));/y;
const ILLEGAL_CHARACTER = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;
const DECLARATION =
  /<\?xml[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*(?:"1\.[0-9]+"|'1\.[0-9]+')(?:[ \t\r\n]+encoding[ \t\r\n]*=[ \t\r\n]*(?:"[A-Za-z][\w.-]*"|'[A-Za-z][\w.-]*'))?(?:[ \t\r\n]+standalone[ \t\r\n]*=[ \t\r\n]*(?:"(?:yes|no)"|'(?:yes|no)'))?[ \t\r\n]*\?>/y;

/**
 * Throws `DocumentRefused` at the first error. Returns the offset of every start tag in document order. `text` must not
 * start with a byte order mark.
 */
export function checkWellFormed(text: string): readonly Offset[] {
  if (Buffer.byteLength(text, 'utf8') > MAX_DOCUMENT_BYTES) {
    refuse(0, `the document is larger than ${MAX_DOCUMENT_BYTES} bytes`, 'a smaller document');
  }
  const illegal = ILLEGAL_CHARACTER.exec(text);
  if (illegal !== null) {
    const code = (text.codePointAt(illegal.index) ?? 0).toString(16).toUpperCase();
    refuse(illegal.index, `character U+${code} is not allowed in XML`, 'XML characters only');
  }
  return new Checker(text).run();
}

class Checker {
  readonly #text: string;
  readonly #starts: Offset[] = [];
  readonly #open: Array<{ readonly name: string; readonly offset: Offset }> = [];
  #at: Offset = 0;
  #rootSeen = false;

  constructor(text: string) {
    this.#text = text;
  }

  run(): readonly Offset[] {
    if (this.#text.startsWith('<?xml') && /[ \t\r\n?]/.test(this.#text.charAt(5))) {
      this.#match(DECLARATION) ??
        refuse(0, 'the XML declaration is malformed', '<?xml version="1.0" encoding="UTF-8"?>');
    }
    while (this.#at < this.#text.length) {
      const next = this.#text.indexOf('<', this.#at);
      const end = next < 0 ? this.#text.length : next;
      this.#characterData(end);
      if (next >= 0) this.#markup();
    }
    const unclosed = this.#open.at(-1);
    if (unclosed !== undefined) {
      refuse(unclosed.offset, `<${unclosed.name}> is never closed`, `</${unclosed.name}>`);
    }
    if (!this.#rootSeen) refuse(0, 'the document is empty', 'a <Response> element');
    return this.#starts;
  }

  #markup(): void {
    const { rest, kind } = this.#lookAhead();
    if (kind === '!') {
      if (rest.startsWith('<!--')) this.#comment();
      else if (rest.startsWith('<![CDATA[') && this.#open.length > 0) this.#cdata();
      else if (/^<!DOCTYPE/i.test(rest))
        refuse(this.#at, 'a document type declaration is not allowed', 'no <!DOCTYPE>');
      else refuse(this.#at, '"<!" starts nothing that may stand here', 'an element');
    } else if (kind === '?') this.#processingInstruction();
    else if (kind === '/') this.#endTag();
    else this.#startTag();
  }

  #lookAhead(): { readonly rest: string; readonly kind: string } {
    const rest = this.#text.slice(this.#at, this.#at + 9);
    return { rest, kind: rest.charAt(1) };
  }

  /** Reads up to `end`: text of the open element, or white space outside the root. */
  #characterData(end: Offset): void {
    const from = this.#at;
    this.#at = end;
    if (from === end) return;
    const data = this.#text.slice(from, end);
    if (this.#open.length === 0) {
      const stray = /[^ \t\r\n]/.exec(data);
      if (stray === null) return;
      const place = this.#rootSeen ? 'behind' : 'in front of';
      refuse(from + stray.index, `text ${place} the root element`, 'nothing but one <Response>');
    }
    const terminator = data.indexOf(']]>');
    if (terminator >= 0) refuse(from + terminator, '"]]>" in text', ']]&gt;');
    this.#references(from, end);
  }

  #references(from: Offset, end: Offset): void {
    for (let at = this.#text.indexOf('&', from); at >= 0 && at < end; ) {
      REFERENCE.lastIndex = at;
      const match = REFERENCE.exec(this.#text);
      if (match === null) {
        const name = /^&([\w.-]{1,30});/.exec(this.#text.slice(at, end))?.[1];
        refuse(
          at,
          name === undefined ? 'a bare "&"' : `entity "&${name};" is not defined`,
          name === undefined
            ? '"&amp;" (also inside of URLs)'
            : '&amp; &lt; &gt; &quot; &apos; or a character number',
        );
      } else if (!isXmlCharacter(match[1], match[2])) {
        refuse(at, `${match[0]} is not an XML character`, 'the number of an XML character');
      }
      at = this.#text.indexOf('&', at + 1);
    }
  }

  #startTag(): void {
    const offset = this.#at;
    this.#at += 1;
    const name = this.#match(NAME) ?? refuse(offset, 'a bare "<"', '"&lt;" or a tag');
    if (this.#open.length === 0 && this.#rootSeen) {
      refuse(offset, `a second root element <${name}>`, 'exactly one <Response>');
    }
    this.#rootSeen = true;
    this.#starts.push(offset);
    if (this.#starts.length > MAX_ELEMENTS) {
      refuse(offset, `more than ${MAX_ELEMENTS} elements`, 'fewer elements');
    }
    this.#attributes(name);
    if (this.#text.startsWith('/>', this.#at)) {
      this.#at += 2;
      return;
    }
    if (this.#text.charAt(this.#at) !== '>') {
      refuse(this.#at, `the tag <${name}> is not finished`, 'an attribute, ">" or "/>"');
    }
    this.#at += 1;
    this.#open.push({ name, offset });
    if (this.#open.length > MAX_DEPTH) {
      refuse(offset, `elements are nested more than ${MAX_DEPTH} deep`, 'less nesting');
    }
  }

  #attributes(element: string): void {
    const seen = new Set<string>();
    while (this.#match(SPACE) !== undefined) {
      const offset = this.#at;
      const name = this.#match(NAME);
      if (name === undefined) return;
      if (this.#match(EQUALS) === undefined) {
        refuse(offset, `attribute ${name} has no value`, `${name}="…"`);
      }
      const from = this.#at;
      if (this.#match(QUOTED) === undefined) this.#refuseValue(name, from);
      this.#references(from, this.#at);
      if (seen.has(name)) refuse(offset, `attribute ${name} twice in <${element}>`, 'it once');
      seen.add(name);
      if (seen.size > MAX_ATTRIBUTES) {
        refuse(offset, `more than ${MAX_ATTRIBUTES} attributes`, 'fewer attributes');
      }
    }
  }

  #refuseValue(name: string, from: Offset): never {
    const quote = this.#text.charAt(from);
    if (quote !== '"' && quote !== "'")
      refuse(from, `the value of ${name} has no quotes`, `${name}="…"`);
    const open = this.#text.indexOf('<', from);
    const close = this.#text.indexOf(quote, from + 1);
    if (open >= 0 && close > open) refuse(open, `"<" in the value of ${name}`, '"&lt;"');
    refuse(from, `the value of ${name} has no closing quote`, quote);
  }

  #endTag(): void {
    const offset = this.#at;
    this.#at += 2;
    const name = this.#match(NAME) ?? refuse(offset, 'an end tag without a name', '</Name>');
    this.#match(SPACE);
    if (this.#text.charAt(this.#at) !== '>') refuse(this.#at, `</${name} is not finished`, '">"');
    this.#at += 1;
    const open = this.#open.pop();
    if (open?.name === name) return;
    if (open === undefined) refuse(offset, `</${name}> closes nothing`, 'no end tag here');
    refuse(offset, `</${name}> where <${open.name}> is open`, `</${open.name}>`);
  }

  #comment(): void {
    const end = this.#text.indexOf('--', this.#at + 4);
    if (end < 0) refuse(this.#at, 'a comment that never ends', '-->');
    if (this.#text.charAt(end + 2) !== '>') refuse(end, '"--" inside a comment', '-->');
    this.#at = end + 3;
  }

  #cdata(): void {
    const end = this.#text.indexOf(']]>', this.#at);
    if (end < 0) refuse(this.#at, 'a CDATA section that never ends', ']]>');
    this.#at = end + 3;
  }

  #processingInstruction(): void {
    const offset = this.#at;
    this.#at += 2;
    const target = this.#match(NAME) ?? refuse(offset, '"<?" without a name', '<?name …?>');
    if (/^xml$/i.test(target)) {
      refuse(offset, 'the XML declaration is not at the very start', 'nothing in front of <?xml');
    }
    const end = this.#text.indexOf('?>', this.#at);
    if (end < 0) refuse(offset, 'a processing instruction that never ends', '?>');
    if (end > this.#at && this.#match(SPACE) === undefined) {
      refuse(this.#at, `<?${target} is malformed`, `<?${target} …?>`);
    }
    this.#at = end + 2;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match === null) return undefined;
    this.#at = pattern.lastIndex;
    return match[0];
  }
}

/** Returns whether a character reference names a Char (XML 1.0 §4.1). */
function isXmlCharacter(decimal: string | undefined, hex: string | undefined): boolean {
  if (decimal === undefined && hex === undefined) return true;
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  return (
    code === 9 ||
    code === 10 ||
    code === 13 ||
    (code >= 0x20 && code <= 0xd7ff) ||
    (code >= 0xe000 && code <= 0xfffd) ||
    (code >= 0x10000 && code <= 0x10ffff)
  );
}

function refuse(offset: Offset, message: string, expected: string): never {
  throw new DocumentRefused(offset, message, expected);
}
