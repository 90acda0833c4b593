/** Requirements of public stream clients for each message, and the forms in which they send theirs. See README.md. */
import type { StreamId } from '../../src/base/ids.ts';

export type Message = Readonly<Record<string, unknown>>;

/** Returns undefined for a valid value, otherwise the expected type. */
type Check = (value: unknown) => string | undefined;

const check =
  (what: string, holds: (value: unknown) => boolean): Check =>
  (value) =>
    holds(value) ? undefined : `wants ${what}, not ${JSON.stringify(value)}`;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const text = check('a string', (value) => typeof value === 'string');
const filled = check('text', (value) => typeof value === 'string' && value !== '');
const integer = check('an integer', (value) => Number.isSafeInteger(value));
const uuid = check('an RFC 9562 UUID', (value) => typeof value === 'string' && UUID.test(value));
const decimal = check(
  'a string of digits',
  (value) => typeof value === 'string' && /^\d+$/.test(value),
);
const base64 = check(
  'padded base64',
  (value) => typeof value === 'string' && Buffer.from(value, 'base64').toString('base64') === value,
);
const strings = check(
  'a list of strings',
  (value) => Array.isArray(value) && value.every((entry) => typeof entry === 'string'),
);
const oneOf = (...values: readonly unknown[]): Check =>
  check(`one of ${values.join(' ')}`, (value) => values.includes(value));
const absent = check('nothing', (value) => value === undefined);
const keypad = oneOf(...'0123456789*#');

const mapOfStrings = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((entry) => typeof entry === 'string');
const jsonMap = check('a string with a JSON object of strings', (value) => {
  try {
    return typeof value === 'string' && mapOfStrings(JSON.parse(value));
  } catch {
    return false;
  }
});
const map = check('an object of strings', mapOfStrings);

/** Checks by event, then by dotted path. */
type Needs = Readonly<Record<string, Readonly<Record<string, Check>>>>;

export interface PublicClient {
  readonly name: string;
  readonly needs: Needs;
}

/** Its schemas reject messages with a missing field and drop unknown fields. `stop` and `error` go to its error hook. */
const plivoNode: Needs = {
  start: {
    sequenceNumber: integer,
    'start.callId': uuid,
    'start.streamId': uuid,
    'start.accountId': text,
    'start.tracks': strings,
    'start.mediaFormat.encoding': text,
    'start.mediaFormat.sampleRate': integer,
    extra_headers: text,
  },
  media: {
    sequenceNumber: integer,
    streamId: uuid,
    'media.track': text,
    'media.timestamp': text,
    'media.chunk': integer,
    'media.payload': base64,
    extra_headers: text,
  },
  dtmf: {
    sequenceNumber: integer,
    streamId: uuid,
    'dtmf.track': text,
    'dtmf.digit': text,
    'dtmf.timestamp': text,
    extra_headers: text,
  },
  playedStream: { sequenceNumber: integer, streamId: uuid, name: text },
  clearedAudio: { sequenceNumber: integer, streamId: uuid },
};

/** Jackson beans that ignore unknown fields. Timestamps are parsed from strings; `customParameters` is a map. */
const plivoJava: Needs = {
  start: {
    sequenceNumber: integer,
    'start.tracks': strings,
    'start.mediaFormat.sampleRate': integer,
    'start.customParameters': map,
  },
  media: { streamId: filled, 'media.timestamp': decimal, 'media.chunk': integer },
  dtmf: { streamId: filled, 'dtmf.digit': filled, 'dtmf.track': filled },
  playedStream: { streamId: filled, name: text },
  clearedAudio: { streamId: filled },
  stop: { streamId: filled, reason: filled },
};

/**
 * The runner detects the vendor from the first two messages, and selects Plivo if no other vendor matches. The serializer
 * accepts the twelve keys of a keypad.
 */
const pipecat: Needs = {
  start: {
    'start.streamId': filled,
    'start.callId': filled,
    'start.streamSid': absent,
    'start.call_control_id': absent,
    stream_id: absent,
  },
  media: { start: absent, stream_id: absent, 'media.payload': base64 },
  dtmf: { 'dtmf.digit': keypad },
};

/** Reads `int(timestamp)` of each frame, and finds checkpoints by name. */
const bolna: Needs = {
  start: { 'start.callId': filled, 'start.streamId': filled },
  media: { 'media.timestamp': decimal, 'media.chunk': integer, 'media.payload': base64 },
  dtmf: { 'dtmf.digit': filled },
  playedStream: { name: filled },
};

/** Selects its codec by `mediaFormat`, and parses `extra_headers` as JSON if it begins with a brace. */
const agentTransport: Needs = {
  start: {
    'start.callId': text,
    'start.streamId': text,
    'start.mediaFormat.encoding': oneOf('audio/x-l16', 'audio/x-mulaw'),
    'start.mediaFormat.sampleRate': oneOf(8000, 16_000),
    extra_headers: jsonMap,
  },
  media: { 'media.payload': base64 },
  dtmf: { 'dtmf.digit': filled },
  playedStream: { name: text },
  error: { reason: filled },
};

/** Reads the IDs at the top level of `start`. Without them it sends no checkpoint and no clearAudio. */
const vobizExample: Needs = {
  start: { streamId: filled, callId: filled },
  media: { 'media.payload': base64 },
  playedStream: { name: filled },
};

/** Bridges to another vendor's messages. Their schemas require `streamId` in every message, including `start`. */
const twilioBridge: Needs = Object.fromEntries(
  ['start', 'media', 'stop', 'playedStream', 'clearedAudio'].map((event) => [
    event,
    { streamId: filled },
  ]),
);

/** Accepts audio only from the caller's track. */
const cloudflareVoice: Needs = {
  start: { 'start.streamId': filled, 'start.callId': filled },
  media: { 'media.track': oneOf('inbound'), 'media.payload': base64 },
};

export const PUBLIC_CLIENTS: readonly PublicClient[] = [
  { name: 'Plivo stream SDK for Node', needs: plivoNode },
  { name: 'Plivo stream SDK for Python', needs: plivoNode },
  { name: 'Plivo stream SDK for Java', needs: plivoJava },
  { name: 'Pipecat (runner and Plivo serializer)', needs: pipecat },
  { name: 'Bolna (Vobiz and Plivo handlers)', needs: bolna },
  { name: 'agent-transport (LiveKit, Pipecat)', needs: agentTransport },
  { name: 'Vobiz example bot (WebSocket, Python)', needs: vobizExample },
  { name: 'bridges to Twilio media streams', needs: twilioBridge },
  { name: 'Cloudflare voice adapter for Plivo', needs: cloudflareVoice },
];

/** Returns the client's complaints about the message; empty if valid, or if the client ignores the event. */
export function complaints({ needs }: PublicClient, message: Message): readonly string[] {
  const event = String(message['event']);
  return Object.entries(needs[event] ?? {}).flatMap(([path, wants]) => {
    const complaint = wants(at(message, path));
    return complaint === undefined ? [] : [`${event}: ${path} ${complaint}`];
  });
}

function at(message: Message, path: string): unknown {
  let value: unknown = message;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Message)[key];
  }
  return value;
}

const MULAW_20_MS = Buffer.alloc(160, 0xff).toString('base64');
const L16_20_MS = Buffer.alloc(320).toString('base64');

/** Messages in the form of each client. Their streams use mu-law or name their format. */
export const CLIENT_MESSAGES: ReadonlyArray<
  readonly [form: string, make: (streamId: StreamId) => Message]
> = [
  [
    'playAudio without streamId (Plivo SDKs, agent-transport, Cloudflare)',
    () => ({
      event: 'playAudio',
      media: { contentType: 'audio/x-mulaw', sampleRate: 8000, payload: MULAW_20_MS },
    }),
  ],
  [
    'playAudio with streamId (Pipecat)',
    (streamId) => ({
      event: 'playAudio',
      media: { contentType: 'audio/x-mulaw', sampleRate: 8000, payload: MULAW_20_MS },
      streamId,
    }),
  ],
  [
    'playAudio with streamId null (bots that found no ID in start)',
    () => ({
      event: 'playAudio',
      streamId: null,
      media: { contentType: 'audio/x-l16', sampleRate: 8000, payload: L16_20_MS },
    }),
  ],
  [
    'playAudio with the rate as a string and "wav" for the stream\'s own format (Bolna)',
    () => ({
      event: 'playAudio',
      media: { payload: L16_20_MS, sampleRate: '8000', contentType: 'wav' },
    }),
  ],
  [
    'playAudio at 24000 Hz (Gemini Live bots)',
    (streamId) => ({
      event: 'playAudio',
      streamId,
      media: { contentType: 'audio/x-l16', sampleRate: 24_000, payload: L16_20_MS },
    }),
  ],
  [
    'checkpoint whose name is a JSON text (Cloudflare)',
    (streamId) => ({
      event: 'checkpoint',
      streamId,
      name: JSON.stringify({ type: 'transcript', text: '“é” 日本' }),
    }),
  ],
  [
    'checkpoint without streamId (Pipecat transport messages)',
    () => ({ event: 'checkpoint', name: 'plain' }),
  ],
  ['sendDTMF (agent-transport)', () => ({ event: 'sendDTMF', dtmf: '12#' })],
  ['clearAudio (all)', (streamId) => ({ event: 'clearAudio', streamId })],
  [
    'clearAudio under another name of the stream (ElevenLabs guide of Plivo)',
    (streamId) => ({ event: 'clearAudio', stream_uuid: streamId }),
  ],
];
