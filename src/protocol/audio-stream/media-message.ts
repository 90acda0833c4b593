/** `media` messages of the service (dialect §1.1) outside of the engine: for supervisors, and for tests of bots. */
import type { StreamId } from '../../base/ids.ts';

export interface MediaMessage {
  readonly track: 'inbound' | 'outbound';
  /** Copy of the payload; the message is valid only during the call. */
  readonly payload: Uint8Array;
}

const PAYLOAD = Buffer.from('"payload":"');
const OUTBOUND = Buffer.from('"track":"outbound"');
const QUOTE = 0x22;

interface InboundAudio {
  readonly streamId: StreamId;
  /** Number of the message, from 1. */
  readonly chunk: number;
  /** Milliseconds since 1970 UTC. */
  readonly atMs: number;
  readonly payload: Uint8Array;
  /** JSON of `extra_headers`. */
  readonly extraHeadersJson: string;
}

/** Writes a message with the caller's audio as the engine does: with space for the sequence number. */
export function inboundMediaMessage({
  streamId,
  chunk,
  atMs,
  payload,
  extraHeadersJson,
}: InboundAudio): Buffer {
  const media = {
    track: 'inbound',
    timestamp: String(Math.floor(atMs)),
    chunk,
    payload: Buffer.from(payload).toString('base64'),
  };
  const message =
    `{"sequenceNumber":          ,"event":"media","streamId":"${streamId}",` +
    `"media":${JSON.stringify(media)},"extra_headers":${extraHeadersJson}}`;
  return Buffer.from(message, 'utf8');
}

/** Reads a message of either direction. */
export function readMediaMessage(message: Uint8Array): MediaMessage {
  const text = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  const track = text.includes(OUTBOUND) ? 'outbound' : 'inbound';
  const from = text.indexOf(PAYLOAD);
  if (from < 0) return { track, payload: new Uint8Array(0) };
  const start = from + PAYLOAD.length;
  const end = text.indexOf(QUOTE, start);
  const decoded = Buffer.from(text.toString('latin1', start, end), 'base64');
  // The copy guarantees an even offset, which an int16 view of the samples requires.
  return { track, payload: new Uint8Array(decoded) };
}
