/**
 * Builds a plain tree from a checked document. Entities are decoded after the check, so no entity expansion takes
 * place.
 */
import { XMLParser } from 'fast-xml-parser';
import { DocumentRefused, type Offset } from './problem.ts';
import { checkWellFormed } from './well-formed.ts';

export interface XmlElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  /** Elements and text (white space included) in document order. */
  readonly children: ReadonlyArray<XmlElement | string>;
  /** Offset of the start tag. */
  readonly offset: Offset;
}

const TEXT = '#text';
const CDATA = '#cdata';
const ATTRIBUTES = ':@';

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  processEntities: false,
  cdataPropName: CDATA,
  ignoreDeclaration: true,
  ignorePiTags: true,
});

/** Reads the root element. Throws `DocumentRefused` if the document is not well-formed. */
export function readTree(text: string): XmlElement {
  const offsets = checkWellFormed(text);
  const nodes = parse(text);
  let next = 0;
  const convert = (list: readonly unknown[]): Array<XmlElement | string> => {
    const children: Array<XmlElement | string> = [];
    for (const node of list) {
      if (!isRecord(node)) continue;
      const name = Object.keys(node).find((key) => key !== ATTRIBUTES);
      if (name === undefined) continue;
      const content = node[name];
      if (name === TEXT) children.push(decode(String(content)));
      else if (name === CDATA) children.push(cdataText(content));
      else {
        // The checker recorded the offsets of start tags in the order of this traversal.
        const offset = offsets[next] ?? 0;
        next += 1;
        const attributes = readAttributes(node[ATTRIBUTES]);
        children.push({ name, attributes, offset, children: convert(asList(content)) });
      }
    }
    return children;
  };
  const root = convert(nodes).find((child) => typeof child !== 'string');
  if (root === undefined)
    throw new DocumentRefused(0, 'the document is empty', 'a <Response> element');
  return root;
}

function parse(text: string): readonly unknown[] {
  try {
    return asList(parser.parse(text));
  } catch (error) {
    // The parser also rejects some well-formed documents, such as those with names like __proto__.
    const message = error instanceof Error ? error.message : 'unreadable';
    throw new DocumentRefused(0, message, 'the elements of answer XML');
  }
}

function readAttributes(node: unknown): ReadonlyMap<string, string> {
  if (!isRecord(node)) return new Map();
  // XML 1.0 §3.3.3: white space in an attribute value becomes a space, except from character references.
  return new Map(
    Object.entries(node).map(([name, value]) => [
      name,
      decode(String(value).replace(/\r\n?|[\t\n]/g, ' ')),
    ]),
  );
}

const cdataText = (content: unknown): string =>
  asList(content)
    .map((node) => (isRecord(node) ? String(node[TEXT] ?? '') : ''))
    .join('');

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

function decode(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#x([0-9a-fA-F]+)|#([0-9]+)|([a-z]+));/g, (whole, hex, decimal, name) => {
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    return NAMED[name] ?? whole;
  });
}

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
