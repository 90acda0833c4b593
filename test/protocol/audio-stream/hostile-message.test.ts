import { describe, expect, it } from 'vitest';
import {
  MAX_MESSAGE_PARTS,
  readApplicationMessage,
} from '../../../src/protocol/audio-stream/application-message.ts';
import { cpuTimeMs } from '../../cpu-time.ts';
import { STREAM } from './fixture.ts';

const MEGABYTE = 1024 * 1024;
/** Maximum CPU time of a 4 MiB message in milliseconds. SIP is blocked for that time. */
const TIMEOUT_MS = 400;

const play = (payload: string, more = ''): string =>
  `{"event":"playAudio","media":{"payload":"${payload}"${more}}}`;
const fault = (code: string) => ({ ok: false, error: { code } });

describe('a message built to be slow (4 MiB are allowed)', () => {
  it.each([
    ['padding that is none', play(`${'='.repeat(4 * MEGABYTE)}x`), fault('invalid_payload')],
    ['half of it is padding', play(`A${'='.repeat(4 * MEGABYTE)}`), fault('invalid_payload')],
    ['arrays in arrays', '['.repeat(4 * MEGABYTE), fault('invalid_message')],
    ['objects in objects', '{"a":'.repeat(MEGABYTE), fault('invalid_message')],
    ['many values', `[${'0,'.repeat(4 * MEGABYTE)}0]`, fault('invalid_message')],
    ['a number of many digits', '9'.repeat(4 * MEGABYTE), fault('invalid_message')],
    [
      'a content type of many parameters',
      play('AAAA', `,"contentType":"audio/x-l16${';'.repeat(4 * MEGABYTE)}"`),
      { ok: true },
    ],
    ['nothing but audio', play('A'.repeat(4 * MEGABYTE)), { ok: true }],
  ])('%s: is answered quickly', (_what, text, outcome) => {
    const bytes = Buffer.from(text);
    const timeMs = cpuTimeMs(() =>
      expect(readApplicationMessage(bytes, STREAM)).toMatchObject(outcome),
    );
    expect(timeMs).toBeLessThan(TIMEOUT_MS);
  });

  it('accepts many additional fields in a message', () => {
    const fields = Array.from({ length: MAX_MESSAGE_PARTS - 2 }, (_, i) => `"f${i}":${i}`);
    const message = `{"event":"stop",${fields.join(',')}}`;
    expect(readApplicationMessage(Buffer.from(message), STREAM)).toMatchObject({ ok: true });
  });
});
