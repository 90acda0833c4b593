/** Recorded audio streams of a call (dialect §1.5; spec: Audio streaming, billing). */

import { beforeEach, describe, expect, it } from 'vitest';
import { asStreamId, type StreamId } from '../../../src/base/ids.ts';
import { micros } from '../../../src/base/money.ts';
import { CallStreams, type StreamFacts } from '../../../src/domain/call/call-streams.ts';

const SECOND_US = 1_000_000;

let streams: CallStreams;
beforeEach(() => {
  streams = new CallStreams({
    currency: 'USD',
    perMinute: micros(60_000),
    pulseMs: 60_000,
    streamPerMinute: micros(6000),
    streamPulseMs: 10_000,
  });
});

const stream = (streamId: StreamId): StreamFacts => ({
  streamId,
  serviceUrl: 'wss://bot.test/',
  audioTrack: 'both',
  bidirectional: true,
  contentType: 'audio/x-l16;rate=8000',
});

describe('CallStreams', () => {
  it('moves a closed stream with its cost from open to past', () => {
    streams.opened(stream(asStreamId('a')), SECOND_US);
    expect(streams.open).toMatchObject([{ streamId: 'a', startUs: SECOND_US, endUs: undefined }]);
    expect(streams.closed(asStreamId('a'), { atUs: 12 * SECOND_US, reason: 'API request' })).toBe(
      true,
    );
    expect(streams.open).toEqual([]);
    expect(streams.past).toMatchObject([
      { streamId: 'a', connectedUs: 11 * SECOND_US, billedMs: 20_000, billedAmount: 2000 },
    ]);
  });

  it('charges only connected time', () => {
    streams.opened(stream(asStreamId('a')), 0);
    expect(streams.lost(asStreamId('a'), 4 * SECOND_US)).toBe(true);
    expect(streams.resumed(asStreamId('a'), 60 * SECOND_US)).toBe(true);
    streams.closed(asStreamId('a'), { atUs: 64 * SECOND_US, reason: 'Call hangup' });
    expect(streams.past).toMatchObject([{ connectedUs: 8 * SECOND_US, billedMs: 10_000 }]);
  });

  it('records at most twenty refused streams, immediately closed and free', () => {
    for (let i = 0; i < 25; i += 1) {
      streams.refused(stream(asStreamId(`${i}`)), { atUs: 5, reason: 'Connection error' });
    }
    expect(streams.past).toHaveLength(20);
    expect(streams.past[0]).toMatchObject({ startUs: 5, endUs: 5, billedAmount: 0 });
  });

  it('bills streams beyond two hundred records as further connections of the last one', () => {
    for (let i = 0; i < 203; i += 1) {
      const atUs = i * 60 * SECOND_US;
      streams.opened(stream(asStreamId(`${i}`)), atUs);
      expect(streams.open).toHaveLength(1);
      const end = { atUs: atUs + 12 * SECOND_US, reason: 'API request' } as const;
      expect(streams.closed(asStreamId(`${i}`), end)).toBe(true);
    }
    expect(streams.past).toHaveLength(200);
    expect(streams.past.reduce((sum, { billedAmount }) => sum + billedAmount, 0)).toBe(203 * 2000);
    expect(streams.past.at(-1)).toMatchObject({
      streamId: '199',
      startUs: 199 * 60 * SECOND_US,
      endUs: (202 * 60 + 12) * SECOND_US,
      connectedUs: 4 * 12 * SECOND_US,
      billedMs: 80_000,
    });
    expect(streams.lost(asStreamId('unknown'), 0)).toBe(false);
  });

  it('adds the cost of further streams to a record of the same bot', () => {
    const other = { ...stream(asStreamId('other')), serviceUrl: 'wss://other.test/' };
    for (let i = 0; i < 199; i += 1) {
      streams.opened(stream(asStreamId(`${i}`)), 0);
      streams.closed(asStreamId(`${i}`), { atUs: SECOND_US, reason: 'API request' });
    }
    streams.opened(other, 0);
    streams.closed(other.streamId, { atUs: SECOND_US, reason: 'API request' });
    streams.opened(stream(asStreamId('last')), 0);
    streams.closed(asStreamId('last'), { atUs: SECOND_US, reason: 'Call hangup' });
    expect(streams.past.slice(-2)).toMatchObject([
      { streamId: '198', billedMs: 20_000, terminationReason: 'Call hangup' },
      { streamId: 'other', billedMs: 10_000, terminationReason: 'API request' },
    ]);
  });
});
