import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { buildAnswer, chooseAudio, readOffer } from '../../../src/protocol/sdp/sdp.ts';

const FOLDER = new URL('../../../fixtures/sdp/', import.meta.url);
const LOCAL = { address: '198.51.100.1', port: 30_000, sessionId: 77, version: 3, ptimeMs: 20 };

const crlf = (text: string) => text.replace(/\n/g, '\r\n');

function answerTo(offerText: string): string {
  const offer = readOffer(offerText);
  if (!offer.ok) return `refused: ${offer.error.kind}\r\n`;
  const choice = chooseAudio(offer.value, { codecs: ['PCMU', 'PCMA'], srtp: 'off' });
  if (!choice.ok) return `refused: ${choice.error.kind}\r\n`;
  return buildAnswer(offer.value, choice.value, LOCAL);
}

const cases = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.txt'))
  .map((file) => {
    const text = readFileSync(new URL(file, FOLDER), 'utf8');
    const [head = '', answer = ''] = text.split('---\n');
    const border = head.indexOf('\n') + 1;
    return { file, title: head.slice(0, border - 1), offer: head.slice(border), answer };
  });

describe('offers and our answers (fixtures/sdp)', () => {
  test('fixtures exist', () => {
    expect(cases.length).toBeGreaterThan(20);
  });

  test.each(cases)('$file: $title', ({ offer, answer }) => {
    expect(answerTo(crlf(offer))).toBe(crlf(answer));
    expect(answerTo(offer)).toBe(crlf(answer));
  });
});
