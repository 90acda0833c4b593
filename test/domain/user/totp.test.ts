import { describe, expect, it } from 'vitest';
import { newTotpSecret, stepAt, stepOfCode, totpCode } from '../../../src/domain/user/totp.ts';
import { seededRandom } from '../../edge/store/open.ts';

/** `12345678901234567890` in Base32. */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

describe('a one-time password', () => {
  it.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ])('at %d s is that of RFC 6238, appendix B', (seconds, code) => {
    expect(totpCode(SECRET, stepAt(seconds * 1000))).toBe(code);
  });

  it('is valid in its step and for one step before and after', () => {
    const step = 1000;
    const valid = (offset: number, usedStep = 0) =>
      stepOfCode({ secret: SECRET, usedStep }, totpCode(SECRET, step + offset), step * 30_000);
    expect([-2, -1, 0, 1, 2].map((offset) => valid(offset))).toEqual([
      undefined,
      step - 1,
      step,
      step + 1,
      undefined,
    ]);
    expect(valid(0, step)).toBeUndefined();
    expect(valid(1, step)).toBe(step + 1);
    expect(valid(-1, step)).toBeUndefined();
  });

  it('has six digits', () => {
    const code = totpCode(SECRET, 1);
    const step = (text: string) => stepOfCode({ secret: SECRET, usedStep: 0 }, text, 30_000);
    expect(step(code)).toBe(1);
    for (const other of [` ${code}`, `${code}0`, code.slice(1), ''])
      expect(step(other)).toBeUndefined();
  });

  it('has a secret of 160 bits in Base32', () => {
    expect(newTotpSecret(seededRandom())).toMatch(/^[A-Z2-7]{32}$/);
  });
});
