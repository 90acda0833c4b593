/** Readers for the content of an element: text, child elements or a URL. */
import { type ElementReader, isHttpUrl } from './attributes.ts';
import type { XmlProblem } from './instruction.ts';
import type { XmlElement } from './tree.ts';

export const childElements = (element: XmlElement): readonly XmlElement[] =>
  element.children.filter((child) => typeof child !== 'string');

/** Trimmed text directly inside the element. SDKs indent the text that they write (dialect §2.0). */
export const ownText = (element: XmlElement): string =>
  element.children
    .filter((child) => typeof child === 'string')
    .join('')
    .trim();

/** Text of an element that must not have child elements. */
export function textOnly(reader: ElementReader): string {
  const { element } = reader;
  const child = childElements(element)[0];
  if (child !== undefined) {
    reader.refuse(
      `<${child.name}> inside of <${element.name}>`,
      `text alone in <${element.name}>`,
      {
        child,
      },
    );
  }
  return ownText(element);
}

/** Rejects child elements and warns about text, for elements that use only attributes. */
export function refuseContent(reader: ElementReader): void {
  if (textOnly(reader) !== '')
    reader.warn(`the text inside of <${reader.element.name}> is ignored`);
}

/** Children of an element that must not contain text. */
export function elementsOnly(reader: ElementReader): readonly XmlElement[] {
  const { element } = reader;
  if (ownText(element) !== '') {
    reader.refuse(
      `text directly inside of <${element.name}>`,
      `elements alone in <${element.name}>`,
    );
  }
  return childElements(element);
}

/** Reads an http(s) URL from the element's text. */
export function urlContent(reader: ElementReader, fault?: XmlProblem['fault']): string {
  const url = textOnly(reader);
  if (isHttpUrl(url)) return url;
  const { name } = reader.element;
  const shown = url.length > 80 ? `${url.slice(0, 80)}…` : url;
  return reader.refuse(
    url === '' ? `<${name}> has no URL` : `"${shown}" in <${name}> is not a usable URL`,
    'an absolute http:// or https:// URL',
    fault === undefined ? {} : { fault },
  );
}
