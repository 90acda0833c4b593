import { ABOUT, ELEMENT_ABOUT } from './about.ts';
import { attributesOf, ELEMENTS, type SeenAttribute } from './observe.ts';

/** Generates docs/reference/xml.md. Throws for an element or attribute without a description. */
export function xmlReference(): string {
  return [
    '# Answer XML',
    '',
    '<!-- Written by scripts/reference.ts from the readers that check documents: change those, or the words in scripts/xml-reference/about.ts. -->',
    '',
    'This page lists the elements of answer XML and their attributes. Your answer URL returns a document with the root `Response`. The service executes',
    'its elements in order. [Call behavior](calls.md) describes details.',
    '',
    '- Names of elements and attributes are case-sensitive. A document has at most 100 KB.',
    '- An invalid document ends the call with *Invalid Answer XML*. The log of the call names line and column.',
    '- Unknown attributes are ignored, and numbers out of range are set to the nearest limit. Both cause a warning in the log of the call.',
    '',
    '```xml',
    '<Response>',
    '  <Speak>Hello</Speak>',
    '  <Dial callerId="14155550100"><Number>14155550123</Number></Dial>',
    '</Response>',
    '```',
    '',
    ...ELEMENTS.flatMap(section),
  ].join('\n');
}

function section(element: string): readonly string[] {
  const about = ELEMENT_ABOUT[element];
  if (about === undefined) throw new Error(`no description of <${element}>`);
  const attributes = attributesOf(element);
  return [
    `## ${element}`,
    '',
    about,
    '',
    ...(attributes.length === 0
      ? []
      : [
          '| attribute | values | default | meaning |',
          '|-|-|-|-|',
          ...attributes.map((attribute) => row(element, attribute)),
          '',
        ]),
  ];
}

function row(element: string, { name, values, otherwise }: SeenAttribute): string {
  const about = ABOUT[`${element}.${name}`] ?? ABOUT[name];
  if (about === undefined) throw new Error(`no description of ${name} in <${element}>`);
  const shown = otherwise === '' ? '' : `\`${otherwise}\``;
  return `| \`${name}\` | ${values} | ${shown} | ${about} |`;
}
