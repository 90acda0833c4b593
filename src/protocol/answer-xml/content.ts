/** What stands between the tags of an element. */
import { type ElementReader, isHttpUrl } from './attributes.ts';
import type { XmlProblem } from './instruction.ts';
import type { XmlElement } from './tree.ts';

export const childElements = (element: XmlElement): readonly XmlElement[] =>
  element.children.filter((child) => typeof child !== 'string');

/** All text directly inside, trimmed: SDKs indent what they write (dialect §2.0). */
export const ownText = (element: XmlElement): string =>
  element.children
    .filter((child) => typeof child === 'string')
    .join('')
    .trim();

/** The text of an element that must have no child elements. */
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

/** For elements that say everything in attributes. */
export function refuseContent(reader: ElementReader): void {
  if (textOnly(reader) !== '')
    reader.warn(`the text inside of <${reader.element.name}> is ignored`);
}

/** Children of an element that has no text of its own. */
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

/** An http(s) URL as content. */
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
