import { beforeEach, describe, expect, it } from 'vitest';
import { Attempts } from '../../../src/domain/user/attempts.ts';

const WINDOW_MS = 15 * 60_000;

let attempts: Attempts;
beforeEach(() => {
  attempts = new Attempts();
});

const fail = (times: number, address: string, account = 'ada', nowMs = 0): void => {
  for (let time = 0; time < times; time += 1) attempts.failed({ address, account }, nowMs);
};
const blockedMs = (address: string, account = 'ada', nowMs = 0) =>
  attempts.blockedMs({ address, account }, nowMs);

describe('failed sign-ins', () => {
  it('block an account for their address after ten, until their window ends', () => {
    fail(9, '192.0.2.1');
    expect(blockedMs('192.0.2.1')).toBe(0);
    fail(1, '192.0.2.1', 'ada', 1000);
    expect(blockedMs('192.0.2.1', 'ada', 1000)).toBe(WINDOW_MS - 1000);
    expect(blockedMs('192.0.2.2', 'ada', 1000)).toBe(0);
    expect(blockedMs('192.0.2.1', 'bob', 1000)).toBe(0);
    expect(blockedMs('192.0.2.1', 'ada', WINDOW_MS)).toBe(0);
  });

  it('of an ended window do not count', () => {
    fail(10, '192.0.2.1');
    fail(9, '192.0.2.1', 'ada', WINDOW_MS + 1);
    expect(blockedMs('192.0.2.1', 'ada', WINDOW_MS + 1)).toBe(0);
    fail(1, '192.0.2.1', 'ada', WINDOW_MS + 1);
    expect(blockedMs('192.0.2.1', 'ada', WINDOW_MS + 1)).toBe(WINDOW_MS);
  });

  it('block an address for all accounts after fifty', () => {
    for (let n = 0; n < 50; n += 1) fail(1, '192.0.2.1', `user${n}`);
    expect(blockedMs('192.0.2.1', 'another')).toBe(WINDOW_MS);
    expect(blockedMs('192.0.2.2', 'another')).toBe(0);
  });

  it('of the pair are cleared by a success, those of the address are not', () => {
    for (let n = 0; n < 41; n += 1) fail(1, '192.0.2.1', `user${n}`);
    fail(9, '192.0.2.1');
    attempts.passed({ address: '192.0.2.1', account: 'ada' });
    expect(blockedMs('192.0.2.1')).toBe(WINDOW_MS);
  });

  it('of an account begin at zero after its success', () => {
    fail(9, '192.0.2.1');
    attempts.passed({ address: '192.0.2.1', account: 'ada' });
    fail(9, '192.0.2.1');
    expect(blockedMs('192.0.2.1')).toBe(0);
  });

  it.each([
    ['2001:db8:1:2::5', '2001:DB8:1:2:ffff::1', true],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::%eth0', true],
    ['2001:db8::1', '2001:db8:0:0:9::', true],
    ['2001:db8:1:2::5', '2001:db8:1:3::5', false],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.2', false],
  ])('of %s count for %s: %s', (one, other, isSame) => {
    fail(10, one);
    expect(blockedMs(other) > 0).toBe(isSame);
  });
});
