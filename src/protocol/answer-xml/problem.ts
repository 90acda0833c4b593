import type { XmlProblem } from './instruction.ts';

/** Position in the document: an offset in UTF-16 units from its first character. */
export type Offset = number;

/**
 * Error thrown at the first problem, only inside this module. `parseAnswerXml` converts it to a result and computes
 * line and column from its offset.
 */
export class DocumentRefused extends Error {
  readonly offset: Offset;
  readonly expected: string;
  readonly fault: XmlProblem['fault'];

  constructor(
    offset: Offset,
    message: string,
    expected: string,
    fault: XmlProblem['fault'] = 'document',
  ) {
    super(message);
    this.name = 'DocumentRefused';
    this.offset = offset;
    this.expected = expected;
    this.fault = fault;
  }
}

const TAG_NAME = /<[^\s/>]+/y;
const ATTRIBUTE = /\s+([^\s=]+)\s*=\s*(?:"[^"]*"|'[^']*')/y;

/** Converts offsets to line and column, both starting at 1. A line ends with LF, CR or CRLF (XML 1.0 §2.11). */
export class Positions {
  readonly #text: string;
  readonly #starts: number[] = [0];

  constructor(text: string) {
    this.#text = text;
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at);
      if (unit === 10 || (unit === 13 && text.charCodeAt(at + 1) !== 10)) this.#starts.push(at + 1);
    }
  }

  at(offset: Offset): { readonly line: number; readonly column: number } {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (this.#starts[low] ?? 0) + 1 };
  }

  /** Position of an attribute of the element that starts at `element`, or of the element if it lacks that attribute. */
  ofAttribute(element: Offset, name: string): Offset {
    TAG_NAME.lastIndex = element;
    TAG_NAME.test(this.#text);
    let at = TAG_NAME.lastIndex;
    while (at > 0) {
      ATTRIBUTE.lastIndex = at;
      const match = ATTRIBUTE.exec(this.#text);
      if (match === null) return element;
      if (match[1] === name) return at + match[0].indexOf(name);
      at = ATTRIBUTE.lastIndex;
    }
    return element;
  }
}
