import { describe, expect, it } from 'vitest';
import { asAccountId } from '../../../src/base/ids.ts';
import { eraserOf } from '../../../src/domain/privacy/number-text.ts';
import { isNumber, ofDigits, readPersonNumber } from '../../../src/domain/privacy/person-number.ts';

const ACCOUNT = asAccountId('MA_AAAAAAAAAAAAAAAAA');
const BERLIN = { ...ofDigits('493012345678'), nationalAccounts: [ACCOUNT] };
const US = { ...ofDigits('14155550199'), nationalAccounts: [ACCOUNT] };

describe('readPersonNumber', () => {
  it.each([
    ['+49 30 12345678', undefined],
    ['0049 (30) 1234-5678', undefined],
    ['49 30 12345678', undefined],
    ['+49 (0)30 / 12345678', undefined],
    ['sip:+493012345678@example.com;user=phone', undefined],
    ['SIPS:%2B493012345678@example.com', undefined],
    ['tel:+49-30-12345678;phone-context=x', undefined],
    ['030/12345678', 'DE'],
    ['+493012345678', 'AT'],
  ])('reads %s with country %s', (text, country) => {
    expect(readPersonNumber(text, country)).toMatchObject({
      ok: true,
      value: { digits: '493012345678', country: 'DE', national: '03012345678' },
    });
  });

  it.each([
    ['030 12345678', undefined, 'is a national number'],
    ['030 12345678', 'XX', 'is not a known country'],
    ['sip:anna@example.com', undefined, 'must be an E.164 number'],
    ['12', undefined, 'must be an E.164 number'],
    ['12', 'DE', 'must be an E.164 number'],
    ['+49301234567890123', undefined, 'must be an E.164 number'],
  ])('refuses %s with country %s', (text, country, error) => {
    expect(readPersonNumber(text, country)).toMatchObject({
      error: { what: expect.stringContaining(error) },
    });
  });
});

describe('eraserOf', () => {
  it.each([
    ['from +493012345678 to', 'from +erased to'],
    ['"0049 30 12345678"', '"erased"'],
    ['a\\n493012345678', 'a\\nerased'],
    ['030 1234 5678!', 'erased!'],
    ['sip:+493012345678@example.com', 'sip:+erased@example.com'],
    ['To=%2B493012345678&x', 'To=%2Berased&x'],
    ['To=%2B49+30+12345678&x', 'To=%2Berased&x'],
    ['2026-11-28-493012345678-4930999.wav', '2026-11-28-erased-4930999.wav'],
    ['+49 30 12345678 12:30', '+erased 12:30'],
    ['+49\u00a030\u00a012345678', '+erased'],
    ['{"to":493012345678,"cost":3012345678}', '{"to":"erased","cost":3012345678}'],
    ['{"a":["x\\n030/12345678"],"+493012345678":1}', '{"a":["x\\nerased"],"+erased":1}'],
  ])('replaces the number in %s', (text, expected) => {
    expect(eraserOf(BERLIN, true)(text)).toBe(expected);
  });

  it.each([
    '+4930123456789',
    '9493012345678',
    '+49 30 12345678 9',
    '+49 30 12345678-90',
    '+493012345678-90',
    '+1 493012345678',
    '+1-030-12345678',
    'a493012345678',
    '0b6c1c3e-8f0a-4f4e-9a53-493012345678a',
    '{ "spaces": "stay" }',
  ])('keeps %s', (text) => {
    expect(eraserOf(BERLIN, true)(text)).toBe(text);
  });

  it('replaces the national form only if it is asked for, and not behind another country code', () => {
    expect(eraserOf(BERLIN, false)('030 12345678')).toBe('030 12345678');
    expect(eraserOf(US, true)('(415) 555-0199')).toBe('(erased');
    expect(eraserOf(US, true)('+4155550199')).toBe('+4155550199');
  });
});

it('a record is of the number in each form of its account', () => {
  for (const text of ['493012345678', '+493012345678', '00493012345678', '03012345678'])
    expect(isNumber(text, BERLIN, ACCOUNT)).toBe(true);
  expect(isNumber('03012345678', BERLIN, asAccountId('MA_BBBBBBBBBBBBBBBBB'))).toBe(false);
  expect(isNumber('sip:+493012345678@example.com', BERLIN, ACCOUNT)).toBe(true);
  expect(isNumber('4930123456789', BERLIN, ACCOUNT)).toBe(false);
});
