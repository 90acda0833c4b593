import { describe, expect, it } from 'vitest';
import * as messages from '../../../src/protocol/audio-stream/service-message.ts';
import { numbered, STREAM } from './fixture.ts';
import { SEQUENCE_NUMBER_OFFSET } from './sequence-number.ts';
import { faultsOf } from './strict-schema.ts';

const EVERY: Readonly<Record<string, string>> = {
  start: messages.startMessage(STREAM),
  dtmf: messages.dtmfMessage(STREAM, '#', 1_760_000_001_000.7),
  playedStream: messages.playedStreamMessage(STREAM.streamId, 'utt-7'),
  clearedAudio: messages.clearedAudioMessage(STREAM.streamId),
  error: messages.errorMessage(STREAM.streamId, { code: 'buffer_full', message: 'full' }),
  stop: messages.stopMessage(STREAM, 'call_hangup'),
};

describe('messages of the service (dialect §1.1)', () => {
  it.each(Object.entries(EVERY))(
    '%s has exactly the fields that strict clients accept',
    (event, text) => {
      expect(faultsOf(numbered(text))).toEqual([]);
      expect(JSON.parse(numbered(text)).event).toBe(event);
    },
  );

  it('leaves ten spaces for sequenceNumber, which is the first field, as in media', () => {
    for (const text of Object.values(EVERY)) {
      expect(text).toMatch(/^\{"sequenceNumber": {10},"event":/);
      expect(text.indexOf(' ')).toBe(SEQUENCE_NUMBER_OFFSET);
    }
  });

  it('start contains the media format with the rate as number', () => {
    const { start } = JSON.parse(
      numbered(
        messages.startMessage({ ...STREAM, format: { encoding: 'audio/x-l16', rate: 16000 } }),
      ),
    );
    expect(start.mediaFormat).toEqual({ encoding: 'audio/x-l16', sampleRate: 16000 });
  });

  it.each([
    ['inbound', ['inbound']],
    ['outbound', ['outbound']],
    ['both', ['inbound', 'outbound']],
  ] as const)('start lists the tracks of audioTrack=%s', (tracks, expected) => {
    expect(JSON.parse(numbered(messages.startMessage({ ...STREAM, tracks }))).start.tracks).toEqual(
      expected,
    );
  });

  it('extra_headers is a string with a JSON object, "{}" without headers (§0.2 rule 1, §1.3)', () => {
    expect(JSON.parse(numbered(messages.startMessage(STREAM))).extra_headers).toBe(
      '{"tenant":"7"}',
    );
    expect(
      JSON.parse(numbered(messages.startMessage({ ...STREAM, extraHeaders: [] }))).extra_headers,
    ).toBe('{}');
  });

  it('the literal for media parses to the same value', () => {
    const headers = [['quote', 'a"b\\c']] as const;
    expect(JSON.parse(messages.extraHeadersLiteral(headers))).toBe(
      messages.extraHeadersValue(headers),
    );
    expect(JSON.parse(messages.extraHeadersValue(headers))).toEqual({ quote: 'a"b\\c' });
  });

  it('dtmf has a timestamp string of whole milliseconds', () => {
    expect(JSON.parse(numbered(EVERY['dtmf'] ?? '')).dtmf.timestamp).toBe('1760000001000');
  });
});
