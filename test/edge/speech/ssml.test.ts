import { describe, expect, it } from 'vitest';
import { flattenSsml, safeSsml } from '../../../src/edge/speech/ssml.ts';
import { chunksOf } from '../../../src/edge/speech/text-chunks.ts';
import {
  espeakLanguage,
  fliteVoice,
  genderOf,
  parseEspeakVoices,
  parseFliteVoices,
} from '../../../src/edge/speech/voices.ts';

const text = (words: string) => ({ kind: 'text', text: words });
const silence = (ms: number) => ({ kind: 'silence', ms });

describe('SSML for an engine with plain text (dialect §2.1 Speak)', () => {
  it.each([
    ['break by time', 'One<break time="300ms"/>two', [text('One'), silence(300), text('two')]],
    ['break by seconds', 'a<break time="1.5s"/>b', [text('a'), silence(1500), text('b')]],
    ['break by strength', 'a<break strength="strong"/>b', [text('a'), silence(700), text('b')]],
    ['a bare break is medium', 'a<break/>b', [text('a'), silence(400), text('b')]],
    ['a break is at most 10 s', '<break time="100s"/>', [silence(10_000)]],
    [
      'sub is spoken as its alias',
      'the <sub alias="World Wide Web">WWW</sub>!',
      [text('the World Wide Web !')],
    ],
    [
      'characters are spelled',
      'code <say-as interpret-as="characters">A1b</say-as>',
      [text('code A 1 b')],
    ],
    [
      'a telephone number is spelled without its signs',
      '<say-as interpret-as="telephone">+1 (415) 55</say-as>',
      [text('1 4 1 5 5 5')],
    ],
    ['other say-as stays', '<say-as interpret-as="date">1/2/2026</say-as>', [text('1/2/2026')]],
    [
      'paragraphs and sentences end with a full stop',
      '<p><s>Hello</s><s>World.</s></p>',
      [text('Hello. World.')],
    ],
    [
      'prosody, emphasis, lang, phoneme and w keep their words',
      '<prosody rate="slow">a <emphasis>b</emphasis></prosody> <lang xml:lang="de-DE">c</lang> <phoneme alphabet="ipa" ph="x">d</phoneme> <w role="x">e</w>',
      [text('a b c d e')],
    ],
    ['entities', 'Smith &amp; &#83;ons &lt;3 &#x41;', [text('Smith & Sons <3 A')]],
    ['unknown elements keep their words', '<mark name="x"/><foo>bar</foo>', [text('bar')]],
    ['nothing', '  ', []],
  ])('%s', (_name, ssml, parts) => {
    expect(flattenSsml(ssml)).toEqual(parts);
  });

  it('passes only speech elements to an SSML engine, so that it plays no local audio file', () => {
    const made = safeSsml(
      'a<audio src="/etc/passwd">b</audio><break time="1s"/><AUDIO src=\'x\'/>',
    );
    expect(made).toBe('<speak>a b <break time="1s"/> </speak>');
  });
});

describe('long text in pieces', () => {
  it('keeps a short text in one piece', () => {
    expect(chunksOf('Hello. How are you?', 'en-US')).toEqual(['Hello. How are you?']);
  });

  it('makes the first piece short, loses no word, and keeps sentences whole', () => {
    const sentence = 'This sentence has some fifty characters in it, truly.';
    const pieces = chunksOf(Array.from({ length: 30 }, () => sentence).join(' '), 'en-US');
    expect(pieces[0]).toHaveLength(sentence.length * 2 + 1);
    expect(pieces.join(' ').split(sentence)).toHaveLength(31);
    expect(pieces.every((piece) => piece.length <= 300 && piece.endsWith('truly.'))).toBe(true);
  });

  it('splits a long sentence between words, and a long word anywhere', () => {
    const words = chunksOf('word '.repeat(400).trim(), 'en');
    expect(words.every((piece) => piece.length <= 500 && !piece.startsWith(' '))).toBe(true);
    expect(words.join(' ').split(' ')).toHaveLength(400);
    expect(chunksOf('x'.repeat(1200), 'en').join('')).toHaveLength(1200);
  });

  it('accepts an invalid language tag', () => {
    expect(chunksOf('Hi.', 'not a language!')).toEqual(['Hi.']);
  });
});

describe('voices', () => {
  it('derive a gender from WOMAN, MAN and Polly voices', () => {
    expect(
      ['WOMAN', 'MAN', 'man', 'Polly.Matthew', 'Polly.Brian-Neural', 'Polly.Joanna', '', 'x'].map(
        genderOf,
      ),
    ).toEqual(['female', 'male', 'male', 'male', 'male', 'female', 'female', 'female']);
  });

  it('are parsed from the listings of both engines', () => {
    const espeak = parseEspeakVoices(
      'Pty Language       Age/Gender VoiceName          File                 Other Languages\n' +
        ' 5  en-us           --/M      English_(America)  gmw/en-US            (en 3)\n 5  de              --/M      German             gmw/de               \n',
    );
    expect([...espeak]).toEqual(['en-us', 'en', 'de']);
    expect([...parseFliteVoices('Voices available: kal awb_time kal16 awb rms slt \n')]).toContain(
      'slt',
    );
  });

  it.each([
    ['en-US', 'en-us'],
    ['de-AT', 'de'],
    ['es-MX', 'es-419'],
    ['cmn-CN', 'cmn'],
    ['pt-PT', 'pt-br'],
    ['tlh', undefined],
    ['', undefined],
  ])('map language %s to espeak-ng voice %s', (language, expected) => {
    const available = new Set(['en-us', 'de', 'es', 'es-419', 'cmn', 'pt-br']);
    expect(espeakLanguage(language, available)).toBe(expected);
  });

  it('use flite for English only, with the requested gender if possible', () => {
    const all = new Set(['slt', 'rms', 'awb', 'kal']);
    expect(fliteVoice('female', 'en-US', all)).toBe('slt');
    expect(fliteVoice('male', 'en-US', all)).toBe('rms');
    expect(fliteVoice('male', 'en-GB', all)).toBe('awb');
    expect(fliteVoice('female', 'en', new Set(['kal']))).toBe('kal');
    expect(fliteVoice('female', 'de-DE', all)).toBeUndefined();
    expect(fliteVoice('female', 'eng', all)).toBeUndefined();
  });
});
