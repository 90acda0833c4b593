import { readdirSync, readFileSync } from 'node:fs';
import { SaxesParser } from 'saxes';
import { describe, expect, it } from 'vitest';
import { parseAnswerXml } from '../../../src/protocol/answer-xml/answer-xml.ts';

const folder = new URL('../../../fixtures/answer-xml/', import.meta.url);
const options = { allowInsecureStreams: false };
const documents = (kind: string): Array<readonly [name: string, text: string]> =>
  readdirSync(new URL(kind, folder))
    .filter((name) => name.endsWith('.xml'))
    .map((name) => [name, readFileSync(new URL(`${kind}/${name}`, folder), 'utf8')]);
const expectations = JSON.parse(
  readFileSync(new URL('invalid/expectations.json', folder), 'utf8'),
) as Record<string, { at: string; fault: string; message: string; expected: string }>;

const saxesAccepts = (text: string): boolean => {
  const parser = new SaxesParser();
  try {
    parser.write(text).close();
    return true;
  } catch {
    return false;
  }
};

describe('valid documents', () => {
  it.each(documents('valid'))('parses %s like a conforming parser', (_name, text) => {
    const result = parseAnswerXml(text, options);
    expect(result.ok ? undefined : result.error).toBeUndefined();
    expect(saxesAccepts(text)).toBe(true);
  });
});

describe('invalid documents: every problem has line, column and expected content', () => {
  it('has an expectation for every document', () => {
    expect(documents('invalid').map(([name]) => name)).toEqual(Object.keys(expectations));
  });

  it.each(documents('invalid'))('%s', (name, text) => {
    const result = parseAnswerXml(text, options);
    if (result.ok) throw new Error('it was accepted');
    const { line, column, ...rest } = result.error;
    expect({ at: `${line}:${column}`, ...rest }).toEqual(expectations[name]);
  });

  it('accepts ws:// if insecure streams are allowed', () => {
    const text = readFileSync(new URL('invalid/stream-insecure.xml', folder), 'utf8');
    expect(parseAnswerXml(text, { allowInsecureStreams: true })).toMatchObject({
      ok: true,
      value: [{ kind: 'stream', url: 'ws://a.example/' }],
    });
  });
});
