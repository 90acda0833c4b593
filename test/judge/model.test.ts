/** The model accepts a valid history, and detects one violation of each promise. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Observation, Of } from './history.ts';
import { judge, shorten } from './model.ts';

const PRICE = 60_000;
const account: Observation = {
  kind: 'account',
  balance: 1_000_000,
  slots: 2,
  pulseS: 6,
  pulsePrice: PRICE,
};

const call = (name: string, fromMs: number, seconds: number): readonly Observation[] => [
  { kind: 'placed', atMs: fromMs - 50, call: name, node: 0 },
  { kind: 'answered', atMs: fromMs, call: name },
  { kind: 'ended', atMs: fromMs + seconds * 1000, call: name, certain: true },
  { kind: 'callback', atMs: fromMs, event: 'StartApp', call: `u-${name}`, content: 'a' },
  {
    kind: 'callback',
    atMs: fromMs + seconds * 1000 + 50,
    event: 'Hangup',
    call: `u-${name}`,
    content: 'h',
  },
  {
    kind: 'record',
    call: name,
    uuid: `u-${name}`,
    answered: true,
    billsec: seconds,
    cost: Math.ceil(seconds / 6) * PRICE,
  },
  {
    kind: 'entry',
    id: `e-${name}`,
    type: 'debit',
    amount: Math.ceil(seconds / 6) * PRICE,
    reference: `cdr:u-${name}`,
  },
];

const credit: readonly Observation[] = [
  { kind: 'credit', fromMs: 5000, toMs: 5100, key: 'k', amount: 10_000, status: 201 },
  { kind: 'entry', id: 'e-k', type: 'credit', amount: 10_000, reference: 'k' },
];

const valid: readonly Observation[] = [
  account,
  ...call('a', 1000, 3),
  ...call('b', 30_000, 7),
  ...credit,
  { kind: 'balance', fromMs: 100, toMs: 120, balance: 1_000_000 },
  { kind: 'balance', fromMs: 6000, toMs: 6020, balance: 1_000_000 - PRICE + 10_000 },
  { kind: 'dialed', atMs: 1, number: '1', answered: false },
  { kind: 'dialed', atMs: 2, number: '1', answered: true },
  { kind: 'end', balance: 1_000_000 - 3 * PRICE + 10_000, reserved: 0, slotsUsed: 0 },
];

const without = (is: (one: Observation) => boolean): readonly Observation[] =>
  valid.filter((one) => !is(one));
const changed = <K extends Observation['kind']>(
  kind: K,
  change: (one: Of<K>) => Partial<Of<K>>,
): readonly Observation[] => {
  let isDone = false;
  return valid.map((one) => {
    if (one.kind !== kind || isDone) return one;
    isDone = true;
    return { ...one, ...change(one as Of<K>) } as Observation;
  });
};

it('accepts a valid history', () => {
  expect(judge(valid)).toEqual([]);
});

it.each([
  ['C1', 'a missing record', without((one) => one.kind === 'record' && one.call === 'a')],
  ['C1', 'two records', [...valid, ...call('a', 1000, 3).filter((one) => one.kind === 'record')]],
  ['C2', 'a wrong duration', changed('record', () => ({ billsec: 6 }))],
  ['M1', 'a wrong price', changed('record', () => ({ cost: 2 * PRICE }))],
  ['M1', 'a missing charge', without((one) => one.kind === 'entry' && one.id === 'e-a')],
  ['M2', 'a lost credit', without((one) => one.kind === 'entry' && one.id === 'e-k')],
  [
    'M2',
    'a credit booked twice',
    [...valid, { kind: 'entry', id: 'x', type: 'credit', amount: 10_000, reference: 'k' }],
  ],
  ['M3', 'a wrong balance', changed('end', () => ({ balance: 1 }))],
  ['M3', 'reserved money', changed('end', () => ({ reserved: 1 }))],
  ['M4', 'an impossible read', changed('balance', () => ({ balance: 999_999 }))],
  [
    'M4',
    'a read without an acknowledged credit',
    [...valid, { kind: 'balance', fromMs: 9000, toMs: 9010, balance: 1_000_000 - PRICE }],
  ],
  ['L1', 'too many calls', [...valid, ...call('c', 31_000, 2), ...call('d', 31_500, 2)]],
  ['L1', 'a slot in use', changed('end', () => ({ slotsUsed: 1 }))],
  ['B1', 'no hangup', without((one) => one.kind === 'callback' && one.event === 'Hangup')],
  [
    'B1',
    'different content',
    [...valid, { kind: 'callback', atMs: 4100, event: 'Hangup', call: 'u-a', content: 'other' }],
  ],
  [
    'B2',
    'a callback after the hangup',
    [...valid, { kind: 'callback', atMs: 9000, event: 'Redirect', call: 'u-a', content: 'r' }],
  ],
  ['D1', 'a second call', [...valid, { kind: 'dialed', atMs: 3, number: '1', answered: false }]],
] as const)('%s: detects %s', (rule, _, history) => {
  expect(judge(history as readonly Observation[]).map((one) => one.rule)).toContain(rule);
});

it('allows a second call of a contact whose node died before it can have stored the answer', () => {
  const dialed = { kind: 'dialed', number: '2' } as const;
  const after = (ms: number): readonly Observation[] => [
    ...valid,
    { kind: 'fault', atMs: 5000 + ms, name: 'node 0 is killed', node: 0 },
    { ...dialed, atMs: 5000, answered: true },
    { ...dialed, atMs: 0, answered: false },
    { ...dialed, atMs: 9000, answered: true },
  ];
  expect(judge(after(400)).map(({ rule }) => rule)).not.toContain('D1');
  expect(judge(after(600)).map(({ rule }) => rule)).toContain('D1');
  // The client sees the answer after the node that sent it was killed.
  expect(judge(after(-100)).map(({ rule }) => rule)).not.toContain('D1');
  expect(judge(after(-300)).map(({ rule }) => rule)).toContain('D1');
  const busy: Observation = { kind: 'late', atMs: 5000, byMs: 400 };
  expect(judge([...after(600), busy]).map(({ rule }) => rule)).not.toContain('D1');
});

it('does not count calls of a node that may have been declared dead, and allows for a busy machine', () => {
  const isolated: Observation = {
    kind: 'fault',
    atMs: 25_500,
    name: 'node 0 is stopped',
    node: 0,
    isolatedUntilMs: 36_000,
  };
  const calls = [...call('c', 31_000, 2), ...call('d', 31_500, 2)].map((one) =>
    one.kind === 'placed' ? { ...one, node: 1 } : one,
  );
  const rules = (...more: readonly Observation[]): readonly string[] =>
    judge([...valid, ...calls, ...more]).map(({ rule }) => rule);
  expect(rules()).toContain('L1');
  expect(rules(isolated)).not.toContain('L1');
  const longer = changed('record', () => ({ billsec: 6 }));
  expect(judge([...longer, { kind: 'late', atMs: 3900, byMs: 1000 }])).toEqual([]);
});

it('allows that a node dies with the answer of a call, but not later', () => {
  const unanswered = valid.map((one) =>
    one.kind === 'record' && one.call === 'a'
      ? { ...one, answered: false, billsec: 0, cost: 0 }
      : one,
  );
  const killed = (atMs: number): Observation => ({ kind: 'fault', atMs, name: 'killed', node: 0 });
  const rules = (fault: Observation): readonly string[] =>
    judge([...unanswered, fault]).map(({ rule }) => rule);
  expect(rules(killed(1200))).not.toContain('C1');
  expect(rules(killed(2000))).toContain('C1');
});

it('is short and shares no code with the service', () => {
  const source = readFileSync(new URL('./model.ts', import.meta.url), 'utf8');
  expect(source.split('\n').length).toBeLessThanOrEqual(600);
  expect(source.match(/from '.*'/g)).toEqual(["from './history.ts'"]);
});

it('shortens a history to what the violation needs', () => {
  const history: readonly Observation[] = [
    ...valid,
    ...call('c', 31_000, 2),
    ...call('d', 31_500, 2),
    { kind: 'dialed', atMs: 3, number: '1', answered: false },
  ];
  const violation = judge(history).find(({ rule }) => rule === 'D1');
  if (violation === undefined) throw new Error('no violation');
  const shorter = shorten(history, violation);
  expect(judge(shorter).map(({ rule }) => rule)).toContain('D1');
  expect(shorter.some((one) => one.kind === 'placed')).toBe(false);
});
