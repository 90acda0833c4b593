/**
 * Strict schema of the messages of dialect §1.1: all fields present, of the right type, and no others. Written from the
 * dialect's text, independent of the encoders.
 */
type Check = (value: unknown, path: string) => readonly string[];

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const rule =
  (what: string, holds: (value: unknown) => boolean): Check =>
  (value, path) =>
    holds(value) ? [] : [`${path} is not ${what}: ${JSON.stringify(value)}`];

const literal = (expected: unknown): Check =>
  rule(JSON.stringify(expected), (value) => value === expected);
const anyOf = (...options: readonly unknown[]): Check =>
  rule(`one of ${JSON.stringify(options)}`, (value) => options.includes(value));
const text = rule('a string', (value) => typeof value === 'string');
const count = rule('an integer from 0', (value) => Number.isInteger(value) && Number(value) >= 0);
const uuid = rule('a UUID', (value) => typeof value === 'string' && UUID.test(value));
const base64 = rule(
  'base64',
  (value) => typeof value === 'string' && Buffer.from(value, 'base64').toString('base64') === value,
);
/** `extra_headers` is a string with a JSON object (dialect §1.3). */
const extraHeaders = rule('a string with a JSON object of strings', (value) => {
  if (typeof value !== 'string') return false;
  const parsed: unknown = JSON.parse(value);
  return (
    typeof parsed === 'object' &&
    parsed !== null &&
    !Array.isArray(parsed) &&
    Object.values(parsed).every((entry) => typeof entry === 'string')
  );
});
const epochMs = rule(
  'a string of epoch milliseconds',
  (value) => typeof value === 'string' && /^[0-9]{13}$/.test(value),
);

/** Requires exactly these fields. */
const object =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return [`${path} is not an object`];
    }
    const unknown = Object.keys(value).filter((key) => !(key in fields));
    return [
      ...unknown.map((key) => `${path}.${key} is not in the dialect`),
      ...Object.entries(fields).flatMap(([key, check]) =>
        check((value as Record<string, unknown>)[key], `${path}.${key}`),
      ),
    ];
  };

const tracks: Check = (value, path) =>
  Array.isArray(value) && value.length > 0
    ? value.flatMap((track, i) => anyOf('inbound', 'outbound')(track, `${path}[${i}]`))
    : [`${path} is not a list of tracks`];

const mapOfStrings: Check = (value, path) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value).flatMap(([key, entry]) => text(entry, `${path}.${key}`))
    : [`${path} is not an object`];

const stopReason = anyOf(
  'call_hangup',
  'stream_timeout',
  'api_request',
  'xml_moved_on',
  'max_duration',
  'transfer',
);

const SERVICE_MESSAGES: Readonly<Record<string, Check>> = {
  start: object({
    sequenceNumber: literal(0),
    event: literal('start'),
    streamId: uuid,
    callId: uuid,
    start: object({
      callId: uuid,
      streamId: uuid,
      accountId: text,
      tracks,
      mediaFormat: object({
        encoding: anyOf('audio/x-l16', 'audio/x-mulaw'),
        sampleRate: anyOf(8000, 16000),
      }),
      from: text,
      to: text,
      direction: anyOf('inbound', 'outbound'),
      customParameters: mapOfStrings,
    }),
    extra_headers: extraHeaders,
  }),
  media: object({
    sequenceNumber: count,
    event: literal('media'),
    streamId: uuid,
    media: object({
      track: anyOf('inbound', 'outbound'),
      timestamp: epochMs,
      chunk: count,
      payload: base64,
    }),
    extra_headers: extraHeaders,
  }),
  dtmf: object({
    sequenceNumber: count,
    event: literal('dtmf'),
    streamId: uuid,
    dtmf: object({
      track: literal('inbound'),
      digit: anyOf(...'0123456789*#ABCD'),
      timestamp: epochMs,
    }),
    extra_headers: extraHeaders,
  }),
  playedStream: object({
    sequenceNumber: count,
    event: literal('playedStream'),
    streamId: uuid,
    name: text,
  }),
  clearedAudio: object({ sequenceNumber: count, event: literal('clearedAudio'), streamId: uuid }),
  stop: object({
    sequenceNumber: count,
    event: literal('stop'),
    streamId: uuid,
    stop: object({ callId: uuid, accountId: text, reason: stopReason }),
    reason: stopReason,
  }),
  error: object({
    sequenceNumber: count,
    event: literal('error'),
    streamId: uuid,
    error: object({
      code: anyOf('invalid_message', 'invalid_payload', 'unsupported_format', 'buffer_full'),
      message: text,
    }),
    reason: text,
  }),
};

/** Schema violations of one message; empty if it is valid. */
export function faultsOf(message: string): readonly string[] {
  const value: unknown = JSON.parse(message);
  const event = (value as { readonly event?: unknown }).event;
  const check = typeof event === 'string' ? SERVICE_MESSAGES[event] : undefined;
  return check === undefined ? [`unknown event ${String(event)}`] : check(value, String(event));
}
