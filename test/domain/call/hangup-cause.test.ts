/** Dialect §3.12: each code has one name and an accurate text. */
import { describe, expect, it } from 'vitest';
import { HANGUP_CAUSES } from '../../../src/domain/call/types.ts';

/** Texts in the dialect's list, and FreeSWITCH's text for a scheduled end. */
const TEXTS = new Set(
  (
    'NORMAL_CLEARING USER_BUSY NO_ANSWER ORIGINATOR_CANCEL CALL_REJECTED REJECTED INVALID_NUMBER UNALLOCATED_NUMBER ' +
    'SERVICE_UNAVAILABLE SERVER_ERROR MEDIA_TIMEOUT PROTOCOL_ERROR NETWORK_OUT_OF_ORDER DESTINATION_OUT_OF_ORDER ' +
    'NORMAL_TEMPORARY_FAILURE SWITCH_CONGESTION LOSE_RACE USER_NOT_REGISTERED UNKNOWN ALLOTTED_TIMEOUT'
  ).split(' '),
);
/** Intended ends: 4000 hangup, 4010 end of document, 9100 answering machine with mode hangup. */
const NORMAL = [4000, 4010, 9100];

describe('hangup causes (dialect §3.12)', () => {
  const causes = Object.values(HANGUP_CAUSES);

  it('use NORMAL_CLEARING only for intended ends', () => {
    const normal = causes.filter(({ cause }) => cause === 'NORMAL_CLEARING');
    expect(normal.map(({ code }) => code).sort()).toEqual(NORMAL);
  });

  it('distinguish failed servers from invalid responses in 7xxx and 8xxx', () => {
    for (const { code, cause } of causes) {
      if (code >= 7011 && code <= 7014) expect(cause, String(code)).toBe('SERVER_ERROR');
      if (code >= 7022 && code <= 8014) expect(cause, String(code)).toBe('PROTOCOL_ERROR');
    }
  });

  it('have one name and one known text per code', () => {
    expect(causes.filter(({ cause }) => !TEXTS.has(cause))).toEqual([]);
    const reported = new Set(causes.map(({ code, name, cause }) => `${code} ${name} ${cause}`));
    expect(new Set(causes.map(({ code }) => code)).size).toBe(reported.size);
    expect(new Set(causes.map(({ name }) => name)).size).toBe(reported.size);
  });
});
