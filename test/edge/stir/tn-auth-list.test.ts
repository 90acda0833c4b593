import { describe, expect, it } from 'vitest';
import { speaksFor, tnAuthority } from '../../../src/edge/stir/tn-auth-list.ts';

const OID = '06082b0601050507011a';
const der = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  const length = body.length < 0x80 ? [body.length] : [0x81, body.length];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
};
const ia5 = (text: string): Buffer => der(0x16, Buffer.from(text));
/** The extension as encoded in a certificate. */
const extension = (...entries: readonly Buffer[]): Buffer =>
  Buffer.concat([
    Buffer.from('3082', 'hex'),
    Buffer.from(OID, 'hex'),
    der(0x04, der(0x30, ...entries)),
    Buffer.from('0500', 'hex'),
  ]);
const one = (number: string): Buffer => der(0xa2, ia5(number));
const range = (first: string, count: number): Buffer =>
  der(0xa1, der(0x30, ia5(first), der(0x02, Buffer.from([count >> 8, count & 0xff]))));

describe('TNAuthList (RFC 8226 §9)', () => {
  const speaks = (bytes: Buffer, number: string): boolean => {
    const authority = tnAuthority(bytes);
    return authority !== undefined && speaksFor(authority, number);
  };

  it('accepts one number and a range of numbers', () => {
    const list = extension(one('14155550100'), range('14155550200', 300));
    const requested = ['14155550100', '14155550101', '14155550199', '14155550200', '14155550499'];
    expect(requested.map((number) => speaks(list, number))).toEqual([
      true,
      false,
      false,
      true,
      true,
    ]);
    expect(speaks(list, '14155550500')).toBe(false);
    expect(speaks(list, '4155550250')).toBe(false);
  });

  it('has no number with * or #', () => {
    const list = extension(one('14155550100'), range('14155550200', 300));
    expect(['1415555025*', '#4155550250'].map((number) => speaks(list, number))).toEqual([
      false,
      false,
    ]);
  });

  it('does not limit the numbers of a service provider', () => {
    expect(speaks(extension(der(0xa0, ia5('1234'))), '14155550100')).toBe(true);
    expect(tnAuthority(Buffer.from('no such extension'))).toBe('all');
  });

  it.each([
    ['cut off', extension(one('14155550100')).subarray(0, 14)],
    [
      'a length beyond the data',
      Buffer.concat([Buffer.from(OID, 'hex'), Buffer.from('04ff', 'hex')]),
    ],
    ['an unknown entry', extension(der(0xa7, ia5('1')))],
    ['no number', extension(der(0xa2, ia5('none')))],
  ])('rejects %s', (_, bytes) => {
    expect(tnAuthority(bytes)).toBeUndefined();
  });
});
