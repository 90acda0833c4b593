import { describe, expect, it } from 'vitest';
import { openCall, storedCall } from '../../../src/edge/store/sql/stored-call.ts';
import { anOpenCall } from './records.ts';

const stream = {
  streamId: 's1',
  startUs: 1_000_000,
  earlierUs: 0,
  sinceUs: 1_000_000,
  endUs: undefined,
  perMinute: 2_000,
};
const { streams: _, ...call } = anOpenCall();
const open = { ...call, streams: [{ ...stream, pulseMs: 6_000 }] } as never;

describe('a stored open record', () => {
  it('keeps the names and units of the first version, for later versions', () => {
    const stored = JSON.parse(JSON.stringify(storedCall(open)));
    expect(stored).toMatchObject({
      pulseSeconds: 60,
      streamPulseSeconds: 60,
      streams: [{ pulseSeconds: 6 }],
      cdr: { billedSeconds: 0 },
    });
    expect(stored).not.toHaveProperty('pulseMs');
    expect(openCall(stored)).toEqual(open);
  });
});
