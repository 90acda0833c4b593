/** Answer XML of the documentation: its examples, and the attributes that its reference lists. */
import { expect, it } from 'vitest';
import { attributesOf, DOCUMENTS, ELEMENTS } from '../../scripts/xml-reference/observe.ts';
import { parseAnswerXml } from '../../src/protocol/answer-xml/answer-xml.ts';
import { PAGES } from './pages.ts';

function warningsOf(xml: string): readonly string[] {
  const whole = xml.includes('<Response') ? xml : `<Response>${xml}</Response>`;
  const read = parseAnswerXml(whole, { allowInsecureStreams: true });
  if (!read.ok) throw new Error(`${read.error.message}: ${xml}`);
  return read.value.flatMap(({ warnings }) => warnings.map(({ message }) => message));
}

const EXAMPLES = PAGES.flatMap(({ file, text }) =>
  [...text.matchAll(/^```xml\n([\s\S]*?)^```$/gm)]
    .map(([, xml = '']) => xml.replaceAll('…', ''))
    .map((xml, index) => [`${file} ${index + 1}`, xml] as const),
);

it.each(EXAMPLES)('example %s is read without a warning', (_, xml) => {
  expect(warningsOf(xml)).toEqual([]);
});

/** Value that fits the description of the values in the reference. */
function valueFor(values: string): string {
  if (/^(whole number|seconds), \d+/.test(values)) return / (\d+)/.exec(values)?.[1] ?? '';
  if (values.includes('URL')) return 'https://a.example/';
  if (values === 'true or false') return 'true';
  return /^(text|keys|key sequences|digits)/.test(values)
    ? '1'
    : (values.split(/, | or /)[0] ?? '');
}

const ATTRIBUTES = ELEMENTS.flatMap((element) =>
  attributesOf(element).map(({ name, values }) => [element, name, valueFor(values)] as const),
);

it.each(ATTRIBUTES)('<%s> knows %s="%s" of the reference', (element, name, value) => {
  const document = (DOCUMENTS[element] ?? '')
    .replace(new RegExp(` ${name}="[^"]*"`), '')
    .replace(`<${element}`, `<${element} ${name}="${value}"`);
  const read = parseAnswerXml(`<Response>${document}</Response>`, { allowInsecureStreams: true });
  // A refusal of the value shows that the attribute is known, too.
  const messages = read.ok ? read.value.flatMap(({ warnings }) => warnings) : [];
  expect(messages.map(({ message }) => message).join('\n')).not.toContain('has no attribute');
});
