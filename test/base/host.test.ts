import { describe, expect, it } from 'vitest';
import { plainAddress, plainRange } from '../../src/base/host.ts';

describe('the canonical form of an address', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['2001:DB8:0:0::7', '2001:db8::7'],
    ['0:0:0:0:0:0:0:0', '::'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::FFFF:c000:0207', '192.0.2.7'],
    ['0:0:0:0:0:ffff:192.0.2.7', '192.0.2.7'],
    // Not a mapped address: the prefix of RFC 4291 §2.5.5.2 has 96 bits.
    ['::1:ffff:c000:207', '::1:ffff:c000:207'],
    ['fe80::7%eth0', 'fe80::7%eth0'],
    ['1:2:3', '1:2:3'],
    ['voice.example.com', 'voice.example.com'],
  ])('of %s is %s', (text, plain) => {
    expect(plainAddress(text)).toBe(plain);
  });
});

it.each([
  ['::ffff:192.0.2.0/120', '192.0.2.0/24'],
  ['::ffff:0:0/96', '0.0.0.0/0'],
  // Wider than the mapped addresses.
  ['::ffff:0:0/95', '::ffff:0:0/95'],
  ['::ffff:192.0.2.0/x', '::ffff:192.0.2.0/x'],
  ['192.0.2.0/24', '192.0.2.0/24'],
  ['2001:db8::/32', '2001:db8::/32'],
  ['2001:db8::', '2001:db8::'],
])('the range %s is %s', (text, plain) => {
  expect(plainRange(text)).toBe(plain);
});
