import { attributesOf, ELEMENTS } from './observe.ts';

const CHOICES = /^[\w-]+(?:(?:, | or )[\w-]+)+$/;

/** Returns the elements, attributes and fixed values for the completion of the console's editor, as JSON. */
export function xmlCompletions(): string {
  const elements = ELEMENTS.map((name) => ({
    name,
    attributes: attributesOf(name).map((attribute) => ({
      name: attribute.name,
      about: attribute.values,
      values: CHOICES.test(attribute.values) ? attribute.values.split(/, | or /) : [],
    })),
  }));
  return `${JSON.stringify(elements, null, 2)}\n`;
}
