import { describe, expect, it } from 'vitest';
import { parseAnswerXml } from '../../../src/protocol/answer-xml/answer-xml.ts';

const read = (element: string) =>
  parseAnswerXml(`<Response>${element}</Response>`, { allowInsecureStreams: false });

describe('Transfer', () => {
  it('has defaults', () => {
    const read1 = read('<Transfer>+1 415-555-0100</Transfer>');
    expect(read1.ok && read1.value[0]).toMatchObject({
      kind: 'transfer',
      to: '+1 415-555-0100',
      mode: 'blind',
      stream: 'end',
      introduction: undefined,
      music: undefined,
      callerId: undefined,
      timeoutMs: 30_000,
      action: undefined,
      redirect: true,
      callbackUrl: undefined,
    });
  });

  it.each([
    ['<Transfer/>', '<Transfer> has no destination'],
    ['<Transfer>front desk</Transfer>', '"front desk" in <Transfer>'],
    ['<Transfer stream="caller">1</Transfer>', 'stream="caller" with mode="blind"'],
    ['<Transfer introduction="x">1</Transfer>', 'introduction with mode="blind"'],
    [
      `<Transfer mode="warm" introduction="${'x'.repeat(1001)}">1</Transfer>`,
      'introduction is too long',
    ],
    ['<Transfer callerId="1&#9;2">1</Transfer>', 'callerId has control characters'],
  ])('refuses %s', (element, message) => {
    expect(read(element)).toMatchObject({ ok: false, error: { message } });
  });
});
