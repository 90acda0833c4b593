/** Dialect §3.12: every code has one name and a text that is true. */
import { describe, expect, it } from 'vitest';
import { HANGUP_CAUSES } from '../../../src/domain/call/types.ts';

/** Texts of the dialect's list, and FreeSWITCH's own for an end that was scheduled. */
const TEXTS = new Set(
  (
    'NORMAL_CLEARING USER_BUSY NO_ANSWER ORIGINATOR_CANCEL CALL_REJECTED REJECTED INVALID_NUMBER UNALLOCATED_NUMBER ' +
    'SERVICE_UNAVAILABLE SERVER_ERROR MEDIA_TIMEOUT PROTOCOL_ERROR NETWORK_OUT_OF_ORDER DESTINATION_OUT_OF_ORDER ' +
    'NORMAL_TEMPORARY_FAILURE SWITCH_CONGESTION LOSE_RACE USER_NOT_REGISTERED UNKNOWN ALLOTTED_TIMEOUT'
  ).split(' '),
);
/** Ends that are as somebody meant them: 4000 hung up, 4010 document over, 9100 a machine that was not to be talked to. */
const NORMAL = [4000, 4010, 9100];

describe('hangup causes (dialect §3.12)', () => {
  const causes = Object.values(HANGUP_CAUSES);

  it('NORMAL_CLEARING is the text of normal ends alone', () => {
    const normal = causes.filter(({ cause }) => cause === 'NORMAL_CLEARING');
    expect(normal.map(({ code }) => code).sort()).toEqual(NORMAL);
  });

  it('7xxx and 8xxx tell a server that failed from what it said', () => {
    for (const { code, cause } of causes) {
      if (code >= 7011 && code <= 7014) expect(cause, String(code)).toBe('SERVER_ERROR');
      if (code >= 7022 && code <= 8014) expect(cause, String(code)).toBe('PROTOCOL_ERROR');
    }
  });

  it('every text is one that clients know, every code has one name and one text', () => {
    expect(causes.filter(({ cause }) => !TEXTS.has(cause))).toEqual([]);
    const told = new Set(causes.map(({ code, name, cause }) => `${code} ${name} ${cause}`));
    expect(new Set(causes.map(({ code }) => code)).size).toBe(told.size);
    expect(new Set(causes.map(({ name }) => name)).size).toBe(told.size);
  });
});
