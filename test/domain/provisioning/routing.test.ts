/** Order of carriers by prefix, priority, price, weight and time of day, and number formats of carriers. */
import { describe, expect, it } from 'vitest';
import { carrierFormat, consider, ranked } from '../../../src/domain/provisioning/routing.ts';
import type { Carrier, CarrierPolicy } from '../../../src/domain/provisioning/types.ts';
import { carrier } from '../../edge/sip/rig.ts';
import { seededRandom } from '../../protocol/sip-ua/world.ts';

const named = (name: string, more: Partial<Carrier> = {}, policy: CarrierPolicy = {}): Carrier =>
  carrier({ name, ...more, policy });

const order = (carriers: readonly Carrier[], moment = {}, number = '49301234'): string[] =>
  ranked(consider(carriers, number, moment), moment).map(({ carrier: { name } }) => name);

describe('the order of carriers', () => {
  it('sorts by longest prefix, then priority, price, weight and name', () => {
    const carriers = [
      named('last', { priority: 2 }),
      named('dear', {}, { costs: { '': 0.09 } }),
      named('unpriced'),
      named('cheap', {}, { costs: { '': 0.5, '49': 0.01 } }),
      named('off', { enabled: false }),
      named('elsewhere', { prefixes: ['1'] }),
      named('exact', { prefixes: ['', '493'], priority: 9 }),
    ];
    expect(order(carriers)).toEqual(['exact', 'cheap', 'dear', 'unpriced', 'last']);
  });

  it('distributes the first place by weight and treats weight 0 as reserve', () => {
    const carriers = [
      named('seventy', {}, { weight: 70 }),
      named('thirty', {}, { weight: 30 }),
      named('reserve', {}, { weight: 0 }),
    ];
    const random = seededRandom(7);
    const firsts = new Map<string, number>();
    for (let call = 0; call < 2000; call += 1) {
      const [first = '', , third] = order(carriers, { random });
      firsts.set(first, (firsts.get(first) ?? 0) + 1);
      expect(third).toBe('reserve');
    }
    expect((firsts.get('seventy') ?? 0) / 2000).toBeCloseTo(0.7, 1);
    expect((firsts.get('thirty') ?? 0) / 2000).toBeCloseTo(0.3, 1);
  });

  it.each([
    ['mon-fri 08:00-18:00', '2026-11-20T07:59:59Z', false],
    ['mon-fri 08:00-18:00', '2026-11-20T08:00:00Z', true],
    ['mon-fri 08:00-18:00', '2026-11-20T17:59:59Z', true],
    ['mon-fri 08:00-18:00', '2026-11-20T18:00:00Z', false],
    ['mon-fri 08:00-18:00', '2026-11-21T12:00:00Z', false],
    ['sat-mon 00:00-24:00', '2026-11-22T12:00:00Z', true],
    ['sat-mon 00:00-24:00', '2026-11-24T12:00:00Z', false],
    // Friday's night hours extend into Saturday.
    ['fri 22:00-06:00', '2026-11-21T05:59:00Z', true],
    ['fri 22:00-06:00', '2026-11-20T05:59:00Z', false],
  ])('%s at %s: %s', (window, at, open) => {
    const carriers = [named('north', {}, { windows: [window] })];
    expect(order(carriers, { wallMs: Date.parse(at) })).toEqual(open ? ['north'] : []);
  });
});

describe('the number format of a carrier', () => {
  const rewrite = [
    { match: '^49(\\d+)$', replace: '0049$1' },
    { match: '^1(\\d{10})$', replace: '$1' },
  ];

  it('applies the first matching rule, or else strip and prepend', () => {
    const north = named('north', { strip: 1, prepend: '+' }, { rewrite });
    expect(carrierFormat(north, '49301234')).toBe('0049301234');
    expect(carrierFormat(north, '14155550100')).toBe('4155550100');
    expect(carrierFormat(north, '33123')).toBe('+3123');
  });

  it('ignores an invalid rule', () => {
    const north = named('north', {}, { rewrite: [{ match: '(', replace: '' }] });
    expect(carrierFormat(north, '49301234')).toBe('49301234');
  });
});
