import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  MAX_CHECKPOINT_NAME,
  MAX_DTMF_DIGITS,
  readApplicationMessage,
} from '../../../src/protocol/audio-stream/application-message.ts';
import { bytes, STREAM } from './fixture.ts';

const read = (message: unknown) => readApplicationMessage(bytes(message), STREAM);
const PAYLOAD = Buffer.from([1, 0, 2, 0]).toString('base64');
const play = (media: Record<string, unknown>) => read({ event: 'playAudio', media });

describe('messages of the application (dialect §1.2)', () => {
  it.each([
    [{ contentType: 'audio/x-l16', sampleRate: 8000 }, 'audio/x-l16', 8000],
    [{ contentType: 'audio/x-l16', sampleRate: 16000 }, 'audio/x-l16', 16000],
    [{ contentType: 'audio/x-l16', sampleRate: 24000 }, 'audio/x-l16', 24000],
    [{ contentType: 'audio/x-mulaw', sampleRate: 8000 }, 'audio/x-mulaw', 8000],
    [{ contentType: 'audio/x-mulaw', sampleRate: '8000' }, 'audio/x-mulaw', 8000],
    [{ contentType: 'audio/x-l16;rate=16000' }, 'audio/x-l16', 16000],
    [{ contentType: 'audio/x-l16; rate=24000' }, 'audio/x-l16', 24000],
    [{ contentType: 'audio/mulaw' }, 'audio/x-mulaw', 8000],
    [{ contentType: 'audio/L16', sampleRate: 8000 }, 'audio/x-l16', 8000],
    [{ contentType: 'wav', sampleRate: '8000' }, 'audio/x-l16', 8000],
    [{}, 'audio/x-l16', 8000],
  ])('playAudio accepts %j', (media, encoding, rate) => {
    const result = play({ ...media, payload: PAYLOAD });
    expect(result).toEqual({
      ok: true,
      value: { event: 'playAudio', format: { encoding, rate }, payload: Buffer.from([1, 0, 2, 0]) },
    });
  });

  it.each([
    { contentType: 'audio/x-mulaw', sampleRate: 16000 },
    { contentType: 'audio/x-l16', sampleRate: 44100 },
    { contentType: 'audio/x-l16', sampleRate: '8k' },
    { contentType: 'audio/opus', sampleRate: 8000 },
    { contentType: 7, sampleRate: 8000 },
  ])('playAudio with %j returns unsupported_format', (media) => {
    expect(play({ ...media, payload: PAYLOAD })).toMatchObject({
      ok: false,
      error: { code: 'unsupported_format' },
    });
  });

  it.each([undefined, 7, '', 'not base64!', 'AAAAA', '===='])(
    'playAudio with payload %j returns invalid_payload',
    (payload) => {
      expect(play({ payload })).toMatchObject({ ok: false, error: { code: 'invalid_payload' } });
    },
  );

  it('accepts base64 without padding', () => {
    expect(play({ payload: PAYLOAD.replace(/=+$/, '') })).toMatchObject({ ok: true });
  });

  it('accepts a missing streamId and checks one that is present', () => {
    expect(read({ event: 'clearAudio' })).toMatchObject({ ok: true });
    expect(read({ event: 'clearAudio', streamId: STREAM.streamId })).toMatchObject({ ok: true });
    expect(read({ event: 'clearAudio', streamId: 'another' })).toMatchObject({
      ok: false,
      error: { code: 'invalid_message' },
    });
  });

  it.each([
    [
      { event: 'checkpoint', name: 'utt-7' },
      { event: 'checkpoint', name: 'utt-7' },
    ],
    [
      { event: 'mark', mark: { name: 'utt-7' } },
      { event: 'checkpoint', name: 'utt-7' },
    ],
    [{ event: 'clear' }, { event: 'clearAudio' }],
    [
      { event: 'sendDTMF', dtmf: '12#' },
      { event: 'sendDTMF', digits: '12#' },
    ],
    [
      { event: 'sendDTMF', dtmf: { digits: '5' } },
      { event: 'sendDTMF', digits: '5' },
    ],
    [{ event: 'stop' }, { event: 'stop', drain: false }],
    [
      { event: 'stop', drain: true },
      { event: 'stop', drain: true },
    ],
  ])('%j reads as %j', (message, value) => {
    expect(read(message)).toEqual({ ok: true, value });
  });

  it('accepts media as an alias of playAudio', () => {
    expect(read({ event: 'media', media: { payload: PAYLOAD } })).toMatchObject({
      ok: true,
      value: { event: 'playAudio', format: STREAM.format },
    });
  });

  it.each([
    ['{"event":', 'not JSON'],
    ['[]', 'an array'],
    ['null', 'null'],
    ['7', 'a number'],
    ['{}', 'no event'],
    ['{"event":7}', 'an event that is not a string'],
    ['{"event":"__proto__"}', 'the name of an object property'],
    ['{"event":"constructor"}', 'another one'],
    ['{"event":"dance"}', 'an unknown event'],
    ['{"event":"checkpoint"}', 'a checkpoint without name'],
    [
      JSON.stringify({ event: 'checkpoint', name: 'x'.repeat(MAX_CHECKPOINT_NAME + 1) }),
      'a long name',
    ],
    ['{"event":"sendDTMF","dtmf":"12x"}', 'digits that are none'],
    [JSON.stringify({ event: 'sendDTMF', dtmf: '1'.repeat(MAX_DTMF_DIGITS + 1) }), 'many digits'],
    ['{"event":"playAudio"}', 'playAudio without media'],
  ])('returns invalid_message for %s (%s)', (message) => {
    expect(read(message)).toMatchObject({ ok: false, error: { code: 'invalid_message' } });
  });

  it('returns invalid_message for bytes that are not UTF-8', () => {
    expect(readApplicationMessage(Buffer.from([0x7b, 0xff, 0xfe]), STREAM)).toMatchObject({
      ok: false,
      error: { code: 'invalid_message' },
    });
  });

  it('never throws for arbitrary bytes or JSON values', () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), fc.json().map(bytes)), (input) => {
        const result = readApplicationMessage(input, STREAM);
        if (!result.ok) expect(result.error.message).not.toBe('');
      }),
      { numRuns: 500 },
    );
  });

  it('never throws for arbitrary values of playAudio', () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.jsonValue(),
        fc.jsonValue(),
        (contentType, sampleRate, payload) => {
          const result = play({ contentType, sampleRate, payload });
          if (!result.ok) expect(result.error.message).not.toBe('');
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('extensions that the document allows', () => {
  const allowed = { ...STREAM, notes: true, transfers: true };
  const readAllowed = (message: unknown) => readApplicationMessage(bytes(message), allowed);

  it('reads a note', () => {
    const note = { kind: 'transcript', speaker: 'bot', text: 'Hello.' };
    expect(readAllowed({ event: 'note', note })).toEqual({
      ok: true,
      value: { event: 'note', note },
    });
  });

  it('reads a transfer and adds defaults', () => {
    expect(readAllowed({ event: 'transfer', transfer: { to: '14155550100' } })).toEqual({
      ok: true,
      value: {
        event: 'transfer',
        transfer: {
          mode: 'blind',
          to: '14155550100',
          callerId: undefined,
          music: undefined,
          introduction: undefined,
          stream: 'end',
          timeoutMs: 30_000,
          onFailure: 'next',
        },
      },
    });
    expect(readAllowed({ event: 'cancelTransfer' })).toEqual({
      ok: true,
      value: { event: 'cancelTransfer' },
    });
  });

  it.each([
    [{ event: 'note' }, 'note has no "note" object'],
    [
      { event: 'note', note: { kind: 'x', text: 'a' } },
      'note.kind must be "transcript" or "agent"',
    ],
    [
      { event: 'note', note: { kind: 'agent', text: '' } },
      'note.text must have 1 to 2000 characters',
    ],
    [
      { event: 'note', note: { kind: 'agent', text: 'a'.repeat(2001) } },
      'note.text must have 1 to 2000 characters',
    ],
    [
      { event: 'note', note: { kind: 'agent', text: 'a', speaker: 'dog' } },
      'note.speaker must be "caller" or "bot"',
    ],
    [{ event: 'transfer', transfer: [] }, 'transfer has no "transfer" object'],
    [{ event: 'transfer', transfer: {} }, 'transfer.to must have 1 to 512 characters'],
    [
      { event: 'transfer', transfer: { to: '1', mode: 'cold' } },
      'transfer.mode must be "blind", "attended" or "warm"',
    ],
    [
      { event: 'transfer', transfer: { to: '1', stream: 'caller' } },
      'a blind transfer ends the stream',
    ],
    [
      { event: 'transfer', transfer: { to: '1', mode: 'warm', stream: 'both' } },
      'transfer.stream must be "end", "caller" or "colleague"',
    ],
    [
      { event: 'transfer', transfer: { to: '1', timeout: 121 } },
      'transfer.timeout must be from 1 to 120 seconds',
    ],
    [
      { event: 'transfer', transfer: { to: '1', onFailure: 'bot' } },
      'transfer.onFailure must be "next" or "stream"',
    ],
    [
      { event: 'transfer', transfer: { to: 'sip:a@b\r\nX: 1' } },
      'transfer.to contains control characters',
    ],
    [
      { event: 'transfer', transfer: { to: '1', callerId: '1\u0000' } },
      'transfer.callerId contains control characters',
    ],
    [
      { event: 'transfer', transfer: { to: '1', music: 7 } },
      'transfer.music must be a string of at most 1000 characters',
    ],
  ])('refuses %j', (message, reason) => {
    expect(readAllowed(message)).toMatchObject({
      ok: false,
      error: { code: 'invalid_message', message: reason },
    });
  });

  it.each(['note', 'transfer', 'cancelTransfer'])(
    'does not know %s without permission',
    (event) => {
      expect(read({ event, [event]: { kind: 'agent', text: 'a', to: '1' } })).toMatchObject({
        ok: false,
        error: { message: `unknown event "${event}"` },
      });
    },
  );
});
