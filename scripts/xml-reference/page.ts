import { ABOUT, ELEMENT_ABOUT } from './about.ts';
import { attributesOf, ELEMENTS, type SeenAttribute } from './observe.ts';

/** Generates docs/reference/xml.md. Throws for an element or attribute without a description. */
export function xmlReference(): string {
  return [
    '# Answer XML',
    '',
    '<!-- Written by scripts/reference.ts from the readers that check documents: change those, or the words in scripts/xml-reference/about.ts. -->',
    '',
    'Your answer URL returns a document with `Response` as its root and these elements in it, which run in order. Names are',
    'case-sensitive. What a document cannot mean ends the call with *Invalid Answer XML*; the log of the call names line and column. Unknown attributes are',
    'ignored with a warning there, and numbers outside of their range are brought to its end. A document has 100 KB at most.',
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
          '| attribute | values | default | what |',
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
