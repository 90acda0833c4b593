import { describe, expect, it } from 'vitest';
import { Sentences } from '../../src/agent/pipeline/sentences.ts';

const said = (...pieces: readonly string[]): readonly string[] => {
  const sentences = new Sentences();
  return [...pieces.flatMap((piece) => sentences.add(piece)), ...sentences.rest()];
};

describe('sentences for speech synthesis', () => {
  it('end at a stop that a space follows', () => {
    expect(said('It costs 1.50 euro per min', 'ute. Hi. Do you agree?')).toEqual([
      'It costs 1.50 euro per minute.',
      'Hi. Do you agree?',
    ]);
  });

  it('end at the stops of Hindi, Arabic and Urdu', () => {
    expect(said('नमस्ते, आपका स्वागत है। मैं आपकी क्या मदद कर सकता हूँ?')).toHaveLength(2);
    expect(said('كيف يمكنني مساعدتك؟ شكرا لاتصالك')).toHaveLength(2);
    expect(said('میں آپ کی مدد کروں گا۔ شکریہ')).toHaveLength(2);
  });

  it('end at the stops of Chinese and Japanese, which no space follows', () => {
    expect(said('您好，感谢您致电我们的客服', '中心。请问今天我可以帮您做什么呢？请讲')).toEqual([
      '您好，感谢您致电我们的客服中心。',
      '请问今天我可以帮您做什么呢？',
      '请讲',
    ]);
    expect(said('「少々お待ちください、確認いたします。」ありがとうございます。')).toEqual([
      '「少々お待ちください、確認いたします。」',
      'ありがとうございます。',
    ]);
  });

  it('that are too long are cut behind a comma or space, or else at the limit', () => {
    const long = `${'語'.repeat(100)}、${'語'.repeat(99)}`;
    expect(said(long).map(({ length }) => length)).toEqual([101, 99]);
    expect(said('語'.repeat(200)).map(({ length }) => length)).toEqual([180, 20]);
    expect(said(`${'a'.repeat(100)} ${'a'.repeat(100)}`).map(({ length }) => length)).toEqual([
      100, 100,
    ]);
  });
});
