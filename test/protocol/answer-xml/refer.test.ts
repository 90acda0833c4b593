import { describe, expect, it } from 'vitest';
import { parseAnswerXml } from '../../../src/protocol/answer-xml/answer-xml.ts';

const read = (body: string) => {
  const result = parseAnswerXml(`<Response>${body}</Response>`, { allowInsecureStreams: false });
  return result.ok ? result.value[0] : result.error.message;
};

describe('Refer', () => {
  it.each([
    ['<Refer><Sip>sip:a@b.example</Sip></Refer>', { kind: 'sip', uri: 'sip:a@b.example' }],
    ['<Refer><User> sips:a@b.example </User></Refer>', { kind: 'sip', uri: 'sips:a@b.example' }],
    ['<Refer><Number>+1 415-555-0100</Number></Refer>', { kind: 'number', number: '+14155550100' }],
    ['<Refer>tel:+14155550100</Refer>', { kind: 'number', number: '+14155550100' }],
    ['<Refer><Sip>tel:+14155550100</Sip></Refer>', { kind: 'number', number: '+14155550100' }],
  ])('%s', (body, destination) => {
    expect(read(body)).toMatchObject({
      kind: 'refer',
      destination,
      timeoutMs: 60_000,
      redirect: true,
      action: undefined,
      warnings: [],
    });
  });

  it('reads the action and a timeout within its range', () => {
    const attributes = 'action="https://a.example/" method="GET" redirect="false" timeout="1"';
    expect(read(`<Refer ${attributes}>sip:a@b.example</Refer>`)).toMatchObject({
      action: 'https://a.example/',
      method: 'GET',
      redirect: false,
      timeoutMs: 5000,
      warnings: [{ message: expect.stringContaining('timeout="1"') }],
    });
  });

  it.each([
    '<Refer/>',
    '<Refer><Sip/></Refer>',
    '<Refer><Sip>sip:a@b.example</Sip><Sip>sip:c@b.example</Sip></Refer>',
    '<Refer>x<Sip>sip:a@b.example</Sip></Refer>',
    '<Refer><Play>https://a.example/</Play></Refer>',
    '<Refer>sip:a@b.example?Replaces=x</Refer>',
    '<Refer>mailto:a@b.example</Refer>',
    '<PreAnswer><Refer>sip:a@b.example</Refer></PreAnswer>',
  ])('refuses %s', (body) => {
    expect(read(body)).toMatch(/Refer/);
  });
});
