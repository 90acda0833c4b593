/** Dialect §3.12: mapping of SIP responses to causes in records and callbacks. */

import { describe, expect, it } from 'vitest';
import { endOfLeg } from '../../../src/domain/call/end-cause.ts';
import { HANGUP_CAUSES } from '../../../src/domain/call/types.ts';
import { refusalStatus } from '../../../src/edge/sip/hangup-status.ts';

const LEG = { direction: 'outbound', answered: false, toEndpoint: false } as const;

describe('Q.850 cause in Reason, for ambiguous statuses (RFC 3326)', () => {
  const reported = (status: number, reason: string) => {
    const { cause, source } = endOfLeg({ by: 'remote', how: 'refused', status, reason }, LEG);
    return [cause, source];
  };

  it.each([
    [503, 'Q.850;cause=17;text="User busy"', 'busy', 'Callee'],
    [480, 'Q.850 ;text="x"; cause=1', 'unallocated', 'Callee'],
    [500, 'SIP;cause=500, Q.850;cause=34', 'carrierCongestion', 'Carrier'],
    [502, 'Q.850;cause=28', 'invalidDestination', 'Callee'],
    // Not used: a specific status, an unspecific cause, and no cause.
    [486, 'Q.850;cause=1', 'busy', 'Callee'],
    [503, 'Q.850;cause=41', 'carrierCongestion', 'Carrier'],
    [480, 'Temporarily Unavailable', 'noAnswer', 'Callee'],
  ])('maps %i with %s to %s', (status, reason, cause, source) => {
    expect(reported(status, reason)).toEqual([cause, source]);
  });
});

describe('SIP final response → hangup code (dialect §3.12)', () => {
  it.each([
    [401, 4240, 'Callee'],
    [403, 3040, 'Callee'],
    [404, 3050, 'Callee'],
    [407, 4240, 'Callee'],
    [408, 3070, 'Callee'],
    [410, 3050, 'Callee'],
    [480, 3000, 'Callee'],
    [482, 2060, 'Callee'],
    [483, 2060, 'Callee'],
    [484, 2000, 'Callee'],
    [486, 3010, 'Callee'],
    [487, 1000, 'Callee'],
    [488, 2070, 'Callee'],
    [500, 3080, 'Carrier'],
    [502, 2010, 'Carrier'],
    [503, 3090, 'Carrier'],
    [504, 3080, 'Carrier'],
    [600, 3100, 'Callee'],
    [603, 3110, 'Callee'],
    [604, 3120, 'Callee'],
    [606, 2070, 'Callee'],
    [607, 3130, 'Callee'],
    [608, 3130, 'Callee'],
    [420, 3020, 'Callee'],
  ])('maps %i to %i, source %s', (status, code, source) => {
    const end = endOfLeg({ by: 'remote', how: 'refused', status, reason: undefined }, LEG);
    expect(HANGUP_CAUSES[end.cause].code).toBe(code);
    expect(end).toMatchObject({ source, disposition: 'recv_refuse', detail: `SIP ${status}` });
  });

  it.each([
    ['timeout', 3070],
    ['transport', 5000],
    ['unreachable', 5020],
  ] as const)('maps a failure without response (%s) to %i, source Error', (how, code) => {
    const end = endOfLeg({ by: 'local', how, status: undefined, reason: undefined }, LEG);
    expect(HANGUP_CAUSES[end.cause].code).toBe(code);
    expect(end).toMatchObject({ source: 'Error', detail: expect.stringMatching(/.+/) });
  });

  it.each([
    ['timeout', false, 480],
    ['transport', false, 480],
    ['transport', true, 503],
  ] as const)(
    'maps %s at a registered contact (answered: %s) to %i for the caller',
    (how, answered, status) => {
      const end = endOfLeg(
        { by: 'local', how, status: undefined, reason: undefined },
        { ...LEG, answered, toEndpoint: true },
      );
      expect(refusalStatus(end.cause, end.detail)).toBe(status);
    },
  );

  it('maps an endpoint without a contact to 2020', () => {
    const end = endOfLeg(
      { by: 'local', how: 'unreachable', status: undefined, reason: undefined },
      { ...LEG, toEndpoint: true },
    );
    expect(HANGUP_CAUSES[end.cause].code).toBe(2020);
  });
});
