/** The model accepts a valid history, and detects one violation of each promise. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Observation, Of } from './history.ts';
import { judge } from './model.ts';
import { shorten } from './shorten.ts';

const PRICE = 60_000;
const account: Observation = {
  kind: 'account',
  balance: 1_000_000,
  slots: 2,
  cps: 2,
  campaignMost: 1,
  dialsMost: 2,
  pulseS: 6,
  pulsePrice: PRICE,
};

const call = (name: string, fromMs: number, seconds: number): readonly Observation[] => [
  { kind: 'placed', atMs: fromMs - 50, call: name, node: 0 },
  { kind: 'answered', atMs: fromMs, call: name },
  { kind: 'ended', atMs: fromMs + seconds * 1000, call: name, certain: true },
  {
    kind: 'callback',
    atMs: fromMs,
    event: 'StartApp',
    call: `u-${name}`,
    content: 'a',
    accepted: true,
  },
  {
    kind: 'callback',
    atMs: fromMs + seconds * 1000 + 50,
    event: 'Hangup',
    call: `u-${name}`,
    content: 'h',
    accepted: true,
    end: `${seconds} s`,
  },
  {
    kind: 'record',
    call: name,
    uuid: `u-${name}`,
    to: '1000',
    answered: true,
    billsec: seconds,
    cost: Math.ceil(seconds / 6) * PRICE,
    streamCost: 0,
    end: `${seconds} s`,
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

const dialed = (fromMs: number, answered: boolean): Of<'dialed'> => ({
  kind: 'dialed',
  fromMs,
  atMs: answered ? fromMs + 100 : 0,
  endMs: fromMs + 1000,
  number: '1',
  answered,
  node: 0,
});

const valid: readonly Observation[] = [
  account,
  ...call('a', 1000, 3),
  ...call('b', 30_000, 7),
  ...credit,
  { kind: 'balance', fromMs: 100, toMs: 120, balance: 1_000_000 },
  { kind: 'balance', fromMs: 6000, toMs: 6020, balance: 1_000_000 - PRICE + 10_000 },
  dialed(0, false),
  dialed(2000, true),
  { kind: 'contact', number: '1', status: 'answered' },
  // A requested call whose first response was lost; the called party was busy.
  { kind: 'request', fromMs: 50_000, toMs: 50_100, to: '7', status: undefined },
  { kind: 'request', fromMs: 51_000, toMs: 51_100, to: '7', status: 200 },
  { kind: 'placed', atMs: 50_050, call: 'r', node: 0, to: '7' },
  {
    kind: 'record',
    call: 'r',
    uuid: 'u-r',
    to: '7',
    answered: false,
    billsec: 0,
    cost: 0,
    streamCost: 0,
    end: '0 s',
  },
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

const hangup = valid.find(
  (one): one is Of<'callback'> => one.kind === 'callback' && one.event === 'Hangup',
) as Of<'callback'>;
const recorded = valid.map((one) =>
  one.kind === 'callback' && one.event === 'StartApp' ? { ...one, records: true as const } : one,
);
const file: Observation = { kind: 'recording', call: 'u-a' };
const hour = { fromMs: 3_600_000, toMs: 3_600_100 };

it.each([
  ['C1', 'a missing record', without((one) => one.kind === 'record' && one.call === 'a')],
  ['C1', 'two records', [...valid, ...call('a', 1000, 3).filter((one) => one.kind === 'record')]],
  [
    'C1',
    'an answer that nobody gave',
    without((one) => (one.kind === 'answered' || one.kind === 'ended') && one.call === 'a'),
  ],
  ['C2', 'a wrong duration', changed('record', () => ({ billsec: 6 }))],
  [
    'C2',
    'time after the kill of its node',
    [...valid, { kind: 'fault', atMs: 31_000, name: 'k', node: 0, effect: 'kill' }],
  ],
  ['M1', 'a wrong price', changed('record', () => ({ cost: 2 * PRICE }))],
  ['M1', 'a missing charge', without((one) => one.kind === 'entry' && one.id === 'e-a')],
  [
    'M1',
    'a charge without a cause',
    [...valid, { kind: 'entry', id: 'x', type: 'debit', amount: 1, reference: 'undefined' }],
  ],
  ['M1', 'a stream that is not charged', changed('record', () => ({ streamCost: PRICE }))],
  ['M2', 'a lost credit', without((one) => one.kind === 'entry' && one.id === 'e-k')],
  [
    'M2',
    'a credit booked twice',
    [...valid, { kind: 'entry', id: 'x', type: 'credit', amount: 10_000, reference: 'k' }],
  ],
  [
    'M2',
    'a key that is accepted with another amount',
    [...valid, { kind: 'credit', ...hour, key: 'k', amount: 20_000, status: 201 }],
  ],
  ['M3', 'a wrong balance', changed('end', () => ({ balance: 1 }))],
  ['M3', 'reserved money', changed('end', () => ({ reserved: 1 }))],
  ['M4', 'an impossible read', changed('balance', () => ({ balance: 999_999 }))],
  [
    'M4',
    'a read without an acknowledged credit',
    [...valid, { kind: 'balance', fromMs: 9000, toMs: 9010, balance: 1_000_000 - PRICE }],
  ],
  [
    'M4',
    'a read without the charge of a call that was reported',
    [...valid, { kind: 'balance', fromMs: 9000, toMs: 9010, balance: 1_010_000 }],
  ],
  ['L1', 'too many calls', [...valid, ...call('c', 31_000, 2), ...call('d', 31_500, 2)]],
  ['L1', 'too many calls of the campaign', [...valid, dialed(500, false)]],
  ['L1', 'a slot in use', changed('end', () => ({ slotsUsed: 1 }))],
  [
    'L2',
    'too many starts',
    [...valid, ...['c', 'd', 'e'].flatMap((name, at) => call(name, 90_000 + at * 200, 0.1))],
  ],
  [
    'P1',
    'a requested call that is placed twice',
    [...valid, { kind: 'placed', atMs: 51_050, call: 's', node: 0, to: '7' }],
  ],
  ['P1', 'a lost request', without((one) => one.kind === 'record' && one.call === 'r')],
  [
    'P1',
    'a refused request that is placed',
    [
      ...without((one) => one.kind === 'request'),
      { kind: 'request', fromMs: 50_000, toMs: 50_100, to: '7', status: 429 },
    ],
  ],
  ['B1', 'no hangup', without((one) => one.kind === 'callback' && one.event === 'Hangup')],
  [
    'B1',
    'a hangup that no receiver accepted',
    valid.map((one) => (one.kind === 'callback' ? { ...one, accepted: false } : one)),
  ],
  ['B1', 'another end than in the record', changed('record', () => ({ end: '9 s' }))],
  ['B1', 'different content', [...valid, { ...hangup, atMs: 4100, content: 'other' }]],
  ['B2', 'a callback after the hangup', [...valid, { ...hangup, atMs: 9000, event: 'Redirect' }]],
  [
    'B2',
    'a callback that was refused before the hangup',
    [
      ...valid,
      { ...hangup, atMs: 3000, event: 'Ring', accepted: false },
      { ...hangup, atMs: 9000, event: 'Ring' },
    ],
  ],
  ['B3', 'a callback that is never removed', [...valid, { ...hangup, atMs: 90_000 }]],
  ['R1', 'a lost recording', recorded],
  ['R1', 'two recordings', [...recorded, file, file]],
  ['D1', 'a second call', [...valid, dialed(4000, false)]],
  [
    'D2',
    'too many calls to a contact',
    [...valid, ...[0, 2000, 4000].map((ms) => ({ ...dialed(ms, false), number: '2' }))],
  ],
  ['D3', 'an answer that is forgotten', changed('contact', () => ({ status: 'no_answer' }))],
  ['D3', 'an attempt that never ends', changed('contact', () => ({ status: 'dialling' }))],
  [
    'D3',
    'an answer that was not given',
    [...valid, { kind: 'contact', number: '3', status: 'answered' }],
  ],
] as const)('%s: detects %s', (rule, _, history) => {
  expect(judge(history as readonly Observation[]).map((one) => one.rule)).toContain(rule);
});

it('allows a second call of a contact whose node died before it can have stored the answer', () => {
  const made = { kind: 'dialed', fromMs: 4900, endMs: 5000, number: '2', node: 0 } as const;
  const after = (ms: number): readonly Observation[] => [
    ...valid,
    { kind: 'fault', atMs: 5000 + ms, name: 'node 0 is killed', node: 0 },
    { ...made, atMs: 5000, answered: true },
    { ...made, atMs: 0, answered: false },
    { ...made, atMs: 9000, answered: true },
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

it('allows that a killed node loses a call that no phone has answered, and the time after its last heartbeat', () => {
  const fault: Observation = {
    kind: 'fault',
    atMs: 36_000,
    name: 'node 0 is killed',
    node: 0,
    effect: 'kill',
  };
  const shorter = valid.map((one) =>
    one.kind === 'record' && one.call === 'b' ? { ...one, billsec: 6, cost: PRICE } : one,
  );
  expect(judge([...shorter, fault]).map(({ rule }) => rule)).not.toContain('C2');
  const interrupted = [0, 2000, 4000].map((ms) => ({
    ...dialed(ms, false),
    number: '2',
    endMs: 0,
  }));
  expect(judge([...valid, ...interrupted]).map(({ rule }) => rule)).not.toContain('D2');
});

it('allows that the disk fails during a recording', () => {
  const fault: Observation = { kind: 'fault', atMs: 29_900, name: 'EIO', node: 0, effect: 'disk' };
  const kept: Observation = { kind: 'recording', call: 'u-b' };
  expect(judge([...recorded, file, kept])).toEqual([]);
  expect(judge([...recorded, file, fault]).map(({ rule }) => rule)).not.toContain('R1');
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
    dialed(4000, false),
  ];
  const violation = judge(history).find(({ rule }) => rule === 'D1');
  if (violation === undefined) throw new Error('no violation');
  const shorter = shorten(history, violation);
  expect(judge(shorter).map(({ rule }) => rule)).toContain('D1');
  expect(shorter.some((one) => one.kind === 'placed')).toBe(false);
});
