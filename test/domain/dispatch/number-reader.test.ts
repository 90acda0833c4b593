import { describe, expect, it } from 'vitest';
import { NumberReader } from '../../../src/domain/dispatch/number-reader.ts';

describe('numbers of a contact list', () => {
  it.each([
    ['US', '+1 (415) 555-0101', '14155550101'],
    ['US', '14155550101', '14155550101'],
    ['US', '4155550101', '14155550101'],
    ['US', '415.555.0101', '14155550101'],
    ['US', '+44 20 7946 0000', '442079460000'],
    ['US', '919876543210', '919876543210'],
    ['IN', '9876543210', '919876543210'],
    ['IN', '919876543210', '919876543210'],
    ['DE', '030 123456', '4930123456'],
    ['DE', '+49 30 123456', '4930123456'],
    // A Chinese mobile number can look like an American one with its country code.
    ['CN', '13812345678', '8613812345678'],
    ['CN', '8613812345678', '8613812345678'],
    ['', '14155550101', '14155550101'],
  ])('from %s, %s is %s', (country, written, digits) => {
    expect(new NumberReader(country).read(written)).toEqual({ ok: true, value: digits });
  });

  it.each([
    ['nobody', 'is not a phone number'],
    ['+', 'is not a phone number'],
    ['+1415555', 'is not a phone number'],
    ['+9991234567', 'is not a phone number'],
    ['41555501o1', 'is not a phone number'],
    ['sip:ann@a.example', 'is not a phone number'],
    ['\u0664\u0661\u0665\u0665\u0665\u0665', 'is not a phone number'],
    ['911', 'is a short or premium-rate number'],
    ['9005550100', 'is a short or premium-rate number'],
    ['1234567890123456', 'has more than 15 digits'],
    ['1.41556E+10', 'is a number that a spreadsheet has rounded: format its column as text'],
  ])('%s %s', (written, problem) => {
    expect(new NumberReader('US').read(written)).toEqual({ ok: false, error: problem });
  });
});
