import { describe, expect, it } from 'vitest';
import { headersFor, mayForward } from '../../../src/domain/call/onward-headers.ts';
import type { PeerPolicy } from '../../../src/domain/provisioning/types.ts';

const onward = [
  ['Diversion', '<sip:1@a>'],
  ['X-Acme-Id', '7'],
  ['x-other', '8'],
  ['X-VH-plan', 'old'],
] as const;
const own = [['X-VH-plan', 'gold']] as const;
const names = (policy: PeerPolicy | undefined, passed: readonly string[] = ['diversion']) =>
  headersFor(policy, { own, onward, passed }).map(([name, value]) => `${name}: ${value}`);

describe('header fields passed on to a peer', () => {
  it.each([
    ['those in the settings', undefined, ['X-VH-plan: gold', 'Diversion: <sip:1@a>']],
    ['no others', { passHeaders: [] }, ['X-VH-plan: gold']],
    [
      'those with a matching name',
      { passHeaders: ['X-Acme-*'] },
      ['X-VH-plan: gold', 'X-Acme-Id: 7'],
    ],
    [
      'all X- fields, with ours first',
      { passHeaders: ['x-*'] },
      ['X-VH-plan: gold', 'X-Acme-Id: 7', 'x-other: 8'],
    ],
    [
      'added and replaced ones',
      { addHeaders: { Diversion: '<sip:2@b>', 'X-Site': 'berlin' } },
      ['X-VH-plan: gold', 'Diversion: <sip:2@b>', 'X-Site: berlin'],
    ],
    ['reduced by removeHeaders', { removeHeaders: ['X-VH-*', 'diversion'] }, []],
  ])('are %s', (_, policy, expected) => {
    expect(names(policy)).toEqual(expected);
  });

  it('are limited in number and length', () => {
    const many = Array.from({ length: 40 }, (_, i) => [`X-${i}`, ''] as const);
    const sent = headersFor(undefined, { own: [], onward: many, passed: ['X-*'] });
    expect(sent).toHaveLength(16);
    const lines = [
      ['X-Long', 'x'.repeat(1025)],
      ['Identity', 'x'.repeat(4096)],
      ['Identity', 'x'.repeat(4097)],
    ] as const;
    expect(mayForward(lines, undefined)).toEqual([lines[1]]);
    const ours = [
      ['Date', 'x'],
      ['Route', 'x'],
      ['Subject', 'x'],
    ] as const;
    expect(mayForward(ours, undefined)).toEqual([ours[2]]);
  });

  it.each(['history', 'header'])('omit the call history with Privacy: %s', (word) => {
    const claims = { asserted: [], preferred: undefined, remoteParty: undefined, privacy: [word] };
    const history = [...onward, ['History-Info', '<sip:1@a>;index=1'] as const];
    expect(mayForward(history, claims).map(([name]) => name)).toEqual([
      'X-Acme-Id',
      'x-other',
      'X-VH-plan',
    ]);
  });
});
