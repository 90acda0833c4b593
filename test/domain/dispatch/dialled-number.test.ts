import { describe, expect, it } from 'vitest';
import { readDialledNumber } from '../../../src/domain/dispatch/dialled-number.ts';

describe('dialled numbers', () => {
  it.each([
    ['14155550101', 'US', '14155550101', 'US'],
    ['14155550101', 'IN', '14155550101', 'US'],
    ['4155550101', 'US', '14155550101', 'US'],
    ['9876543210', 'IN', '919876543210', 'IN'],
    ['919876543210', 'US', '919876543210', 'IN'],
    ['02079460000', 'GB', '442079460000', 'GB'],
    ['2079460000', 'GB', '442079460000', 'GB'],
    ['+442079460000', 'US', '442079460000', 'GB'],
    ['18765550100', 'US', '18765550100', 'JM'],
  ])(
    "reads %s from %s as %s (%s), with its country code or completed by the account's",
    (dialled, from, e164, country) => {
      expect(readDialledNumber(dialled, from)).toEqual({ kind: 'e164', e164, country });
    },
  );

  it.each(['911', '112', '100', '1800', '123456'])(
    '%s is special: subscriber numbers are longer',
    (dialled) => {
      expect(readDialledNumber(dialled, 'US')).toEqual({ kind: 'special', digits: dialled });
    },
  );

  it.each(['19005550100', '9005550100'])(
    '%s is special: it is a premium-rate number',
    (dialled) => {
      expect(readDialledNumber(dialled, 'US').kind).toBe('special');
    },
  );

  it.each(['', '+', 'alice', '1415*5550101', '999123456789', '1234567', '11111111111111111111'])(
    '"%s" is invalid',
    (dialled) => {
      expect(readDialledNumber(dialled, 'US')).toEqual({ kind: 'invalid' });
    },
  );

  it('a leading + rules out a national reading', () => {
    expect(readDialledNumber('+4155550101', 'US')).toEqual({ kind: 'invalid' });
  });

  it("accepts only numbers with a country code if the account's country is unknown", () => {
    expect(readDialledNumber('4155550101', 'ZZ')).toEqual({ kind: 'invalid' });
    expect(readDialledNumber('14155550101', 'ZZ')).toMatchObject({ kind: 'e164' });
  });
});
