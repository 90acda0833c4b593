/** `Stream` (spec "Stream element rules", dialect §1.5). */
import type { ElementReader } from '../attributes.ts';
import { childElements, textOnly } from '../content.ts';
import type { AnswerXmlOptions, StreamInstruction, StreamSpeech } from '../instruction.ts';
import { DAY_S, MAX_URL_LENGTH } from '../limits.ts';
import { extraHeaders } from '../pairs.ts';

const MAX_RETRIES = 10;
const MAX_DISCLOSURE = 1000;
const BARGE_IN = ['none', 'duck', 'clear'] as const;
const SPEECH_SENSITIVITY = { default: 50, min: 0, max: 100 };
const SPEECH_MIN_MS = { default: 40, min: 20, max: 1000 };
const SPEECH_END_MS = { default: 500, min: 200, max: 5000 };

export function readStream(reader: ElementReader, options: AnswerXmlOptions): StreamInstruction {
  const record = childElements(reader.element).find(({ name }) => name === 'Record');
  if (record !== undefined) {
    reader.refuse('<Record> inside of <Stream>', '<Record/> in front of <Stream>, not in it', {
      child: record,
    });
  }
  const url = streamUrl(reader, options);
  const bidirectional = reader.boolean('bidirectional', false);
  const audioTrack = reader.choice('audioTrack', ['inbound', 'outbound', 'both']) ?? 'inbound';
  if (bidirectional && audioTrack !== 'inbound') {
    reader.refuse(
      `audioTrack="${audioTrack}" together with bidirectional`,
      'audioTrack: inbound, the only value valid together with bidirectional="true"',
      { attribute: 'audioTrack' },
    );
  }
  const keepCallAlive = reader.boolean('keepCallAlive', false);
  return {
    kind: 'stream',
    url,
    bidirectional,
    audioTrack,
    keepCallAlive,
    ...contentType(reader),
    timeoutMs: timeoutMs(reader),
    statusCallbackUrl: reader.url('statusCallbackUrl'),
    statusCallbackMethod: reader.method('statusCallbackMethod'),
    ...extraHeaders(reader),
    maxRetries: maxRetries(reader),
    name: reader.text('name'),
    speech: speech(reader, bidirectional, audioTrack),
    playPositions: reader.boolean('playPositions', false),
    notes: reader.boolean('notes', false),
    transfers: transfers(reader, bidirectional, keepCallAlive),
    disclosure: disclosure(reader),
    ...cleaning(reader),
    ...reader.sourced(),
  };
}

function cleaning(reader: ElementReader): Pick<StreamInstruction, 'clean'> {
  const noise = reader.boolean('noiseSuppression', false);
  const echo = reader.boolean('echoCancellation', false);
  const gain = reader.boolean('gainControl', false);
  return noise || echo || gain ? { clean: { noise, echo, gain } } : {};
}

function disclosure(reader: ElementReader): string | undefined {
  const text = reader.text('disclosure');
  if (text === undefined || text.length <= MAX_DISCLOSURE) return text;
  return reader.refuse(
    'disclosure is too long',
    `disclosure: at most ${MAX_DISCLOSURE} characters`,
    {
      attribute: 'disclosure',
    },
  );
}

/** Reads the attributes of speech detection. Without `speechEvents` and `bargeIn`, the others have no effect. */
function speech(
  reader: ElementReader,
  bidirectional: boolean,
  audioTrack: StreamInstruction['audioTrack'],
): StreamSpeech | undefined {
  const events = reader.boolean('speechEvents', false);
  const bargeIn = reader.choice('bargeIn', BARGE_IN) ?? 'none';
  const sensitivity = reader.integer('speechSensitivity', SPEECH_SENSITIVITY);
  const minimumMs = reader.integer('speechMinMs', SPEECH_MIN_MS);
  const endMs = reader.integer('speechEndMs', SPEECH_END_MS);
  if (!events && bargeIn === 'none') return undefined;
  if (audioTrack === 'outbound') {
    reader.refuse('speechEvents with audioTrack="outbound"', 'audioTrack: inbound or both', {
      attribute: 'audioTrack',
    });
  }
  if (bargeIn !== 'none' && !bidirectional) {
    reader.refuse(`bargeIn="${bargeIn}" on a one-way stream`, 'bidirectional="true" with bargeIn', {
      attribute: 'bargeIn',
    });
  }
  return { events, bargeIn, sensitivity, minimumMs, endMs };
}

/** The element carries out the transfer, so that it must not end before the stream. */
function transfers(reader: ElementReader, bidirectional: boolean, keepsCall: boolean): boolean {
  const isAllowed = reader.boolean('transfers', false);
  if (isAllowed && !(bidirectional && keepsCall)) {
    reader.refuse(
      'transfers="true" without bidirectional and keepCallAlive',
      'bidirectional="true" and keepCallAlive="true" together with transfers',
      { attribute: 'transfers' },
    );
  }
  return isAllowed;
}

function streamUrl(reader: ElementReader, options: AnswerXmlOptions): string {
  const url = textOnly(reader);
  const expected = options.allowInsecureStreams
    ? 'a wss:// or ws:// URL as the text of <Stream>'
    : 'a wss:// URL as the text of <Stream>';
  if (url === '') reader.refuse('<Stream> has no URL', expected);
  const pattern = options.allowInsecureStreams ? /^wss?:\/\/[^\s/#]/i : /^wss:\/\/[^\s/#]/i;
  // A WebSocket URL has no fragment (RFC 6455 §3).
  const usable = pattern.test(url) && !url.includes('#') && URL.canParse(url);
  if (!usable || url.length > MAX_URL_LENGTH) {
    const hint = /^ws:\/\//i.test(url) ? ' (unencrypted streams are not allowed here)' : '';
    reader.refuse(`"${url.slice(0, 80)}" in <Stream> is not usable${hint}`, expected);
  }
  return url;
}

/** Reads the service-to-application format. A rate of 24000 Hz is valid only in `playAudio`. */
function contentType(reader: ElementReader): Pick<StreamInstruction, 'encoding' | 'rate'> {
  const text = reader.text('contentType') ?? 'audio/x-l16;rate=8000';
  const match = /^audio\/x-(l16|mulaw)\s*(?:;\s*rate\s*=\s*(\d+)\s*)?;?$/i.exec(text);
  const isL16 = match?.[1]?.toLowerCase() === 'l16';
  const rate = match?.[2] ?? '8000';
  if (match !== null && rate === '8000') {
    return { encoding: isL16 ? 'audio/x-l16' : 'audio/x-mulaw', rate: 8000 };
  }
  if (match !== null && isL16 && rate === '16000') return { encoding: 'audio/x-l16', rate: 16_000 };
  return reader.refuse(
    rate === '24000' ? 'contentType with rate=24000' : `contentType="${text.slice(0, 80)}"`,
    'contentType: audio/x-mulaw;rate=8000, audio/x-l16;rate=8000 or audio/x-l16;rate=16000' +
      (rate === '24000' ? ' (24000 is for playAudio alone)' : ''),
    { attribute: 'contentType' },
  );
}

/** Reads `streamTimeout` and its alias `maxDuration`; the shorter value applies. */
function timeoutMs(reader: ElementReader): number {
  const range = { defaultS: DAY_S, minS: 1, maxS: DAY_S };
  return Math.min(reader.seconds('streamTimeout', range), reader.seconds('maxDuration', range));
}

/** Clamps the value to 0…10. A value that is not an integer becomes 0 (dialect §1.5). */
function maxRetries(reader: ElementReader): number {
  const text = reader.text('maxRetries');
  if (text === undefined) return 0;
  if (/^[+-]?\d{1,15}$/.test(text)) {
    return reader.integer('maxRetries', { default: 0, min: 0, max: MAX_RETRIES });
  }
  reader.warn('maxRetries is not a whole number: 0 is used', 'maxRetries');
  return 0;
}
