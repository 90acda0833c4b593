import { SECOND_MS, secondsOf } from '../../../../base/duration.ts';
import type { AccountId } from '../../../../base/ids.ts';
import { err, ok } from '../../../../base/result.ts';
import { isoMicros } from '../../../../base/time-format.ts';
import type { LiveStream, StreamRequest } from '../../../../domain/dispatch/types.ts';
import { failure, invalidField } from '../../http/failure.ts';
import type { Route } from '../../http/route.ts';
import {
  accountIdText,
  apiId,
  callUuidOf,
  flag,
  hinted,
  httpMethod,
  nullableText,
  nullableTimestamp,
  oneOf,
  optionalHttpUrl,
  type Static,
  sliceQuery,
  streamIdOf,
  streamIdText,
  Type,
  timestamp,
  URL_AUTHORITY,
} from '../../http/schema.ts';
import { answered, refused } from '../../refusal.ts';
import { metaOf, sliceOf } from '../../wire/list.ts';
import { callbackTarget } from '../../wire/make-call.ts';
import { callCommon, callParams, callRoute } from './call-route.ts';

const ROOT = '/api/v1/Account/{auth_id}/Call/{call_uuid}/Stream/';
const STREAM_SECONDS_DEFAULT = 86_400;
/** Maximum size of extra headers, bytes (dialect §1.3). */
const EXTRA_HEADERS_MAX_BYTES = 512;
const CONTENT_TYPE = /^audio\/x-(?:(l16)(?:;\s*rate=(8000|16000))?|(mulaw)(?:;\s*rate=8000)?)$/i;

const StreamSchema = Type.Object({
  api_id: Type.Optional(Type.String()),
  stream_id: Type.String(),
  call_uuid: Type.String(),
  service_url: Type.String(),
  audio_track: Type.String(),
  bidirectional: Type.Boolean(),
  content_type: Type.String(),
  sampling_rate: Type.Integer(),
  stream_timeout: Type.Integer(),
  status_callback_url: nullableText(),
  status_callback_method: nullableText(),
  status: Type.String(),
  start_time: timestamp(),
  end_time: nullableTimestamp(),
  bill_duration: Type.Integer(),
  rounded_bill_duration: Type.Integer(),
  billed_amount: Type.Number(),
  created_at: timestamp(),
  resource_uri: Type.String(),
});

/**
 * Charges are zero while the call runs. After its end they are in its CDR. `authId`: account of the client, whose
 * credentials open `resource_uri`.
 */
const showStream = (stream: LiveStream, authId: AccountId): Static<typeof StreamSchema> => ({
  stream_id: stream.streamId,
  call_uuid: stream.callUuid,
  service_url: stream.serviceUrl,
  audio_track: stream.audioTrack,
  bidirectional: stream.bidirectional,
  content_type: stream.contentType,
  sampling_rate: stream.rate,
  stream_timeout: secondsOf(stream.timeoutMs),
  status_callback_url: stream.statusCallback?.url ?? null,
  status_callback_method: stream.statusCallback?.method ?? null,
  status: stream.status,
  start_time: isoMicros(stream.startUs),
  end_time: stream.endUs === undefined ? null : isoMicros(stream.endUs),
  bill_duration: 0,
  rounded_bill_duration: 0,
  billed_amount: 0,
  created_at: isoMicros(stream.startUs),
  resource_uri: `/v1/Account/${authId}/Call/${stream.callUuid}/Stream/${stream.streamId}/`,
});

const StartBody = Type.Object({
  service_url: hinted(
    Type.String({ pattern: `^[wW][sS][sS]?://${URL_AUTHORITY}`, maxLength: 2048 }),
    'must be a wss URL',
  ),
  bidirectional: Type.Optional(flag(false)),
  audio_track: Type.Optional(oneOf(['inbound', 'outbound', 'both'])),
  stream_timeout: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 86_400, default: STREAM_SECONDS_DEFAULT }),
  ),
  content_type: Type.Optional(Type.String({ default: 'audio/x-l16;rate=8000' })),
  status_callback_url: Type.Optional(optionalHttpUrl()),
  status_callback_method: Type.Optional(httpMethod()),
  extra_headers: Type.Optional(Type.String()),
  play_positions: Type.Optional(flag(false)),
  speech_events: Type.Optional(flag(false)),
  barge_in: Type.Optional(oneOf(['none', 'duck', 'clear'])),
  speech_sensitivity: Type.Optional(Type.Integer({ minimum: 0, maximum: 100, default: 50 })),
  speech_min_ms: Type.Optional(Type.Integer({ minimum: 20, maximum: 1000, default: 40 })),
  noise_suppression: Type.Optional(flag(false)),
  echo_cancellation: Type.Optional(flag(false)),
  gain_control: Type.Optional(flag(false)),
  speech_end_ms: Type.Optional(Type.Integer({ minimum: 200, maximum: 5000, default: 500 })),
});

function parseFormat(text: string) {
  const match = CONTENT_TYPE.exec(text.trim());
  if (match === null) {
    return err(
      invalidField(
        'content_type',
        'must be audio/x-l16;rate=8000, audio/x-l16;rate=16000 or audio/x-mulaw;rate=8000',
      ),
    );
  }
  const encoding = match[1] === undefined ? ('audio/x-mulaw' as const) : ('audio/x-l16' as const);
  return ok({ encoding, rate: match[2] === '16000' ? (16_000 as const) : (8000 as const) });
}

function parseExtraHeaders(text: string) {
  const wrong = invalidField(
    'extra_headers',
    `must have the form key=value,key2=value2, at most ${EXTRA_HEADERS_MAX_BYTES} bytes`,
  );
  if (Buffer.byteLength(text) > EXTRA_HEADERS_MAX_BYTES) return err(wrong);
  const headers: (readonly [string, string])[] = [];
  for (const pair of text.split(/[,;]/).filter((part) => part.trim() !== '')) {
    const match = /^\s*([\w.-]{1,64})\s*=\s*([\x20-\x7e]*?)\s*$/.exec(pair);
    if (match === null) return err(wrong);
    headers.push([match[1] ?? '', match[2] ?? '']);
  }
  return ok(headers);
}

function cleaning(body: Static<typeof StartBody>) {
  const noise = body.noise_suppression ?? false;
  const echo = body.echo_cancellation ?? false;
  const gain = body.gain_control ?? false;
  return noise || echo || gain ? { clean: { noise, echo, gain } } : {};
}

function speechDetection(
  body: Static<typeof StartBody>,
  { bidirectional, audioTrack }: Pick<StreamRequest, 'bidirectional' | 'audioTrack'>,
) {
  const events = body.speech_events ?? false;
  const bargeIn = body.barge_in ?? 'none';
  if (!events && bargeIn === 'none') return ok(undefined);
  if (audioTrack === 'outbound') {
    return err(invalidField('audio_track', 'must be inbound or both with speech_events'));
  }
  if (bargeIn !== 'none' && !bidirectional) {
    return err(invalidField('barge_in', 'must be none when bidirectional is false'));
  }
  return ok({
    events,
    bargeIn,
    sensitivity: body.speech_sensitivity ?? 50,
    minimumMs: body.speech_min_ms ?? 40,
    endMs: body.speech_end_ms ?? 500,
  });
}

function streamRequest(body: Static<typeof StartBody>) {
  const bidirectional = body.bidirectional ?? false;
  const audioTrack = body.audio_track ?? (bidirectional ? 'inbound' : 'both');
  if (bidirectional && audioTrack !== 'inbound') {
    return err(invalidField('audio_track', 'must be inbound when bidirectional is true'));
  }
  const format = parseFormat(body.content_type ?? 'audio/x-l16;rate=8000');
  if (!format.ok) return format;
  const extraHeaders = parseExtraHeaders(body.extra_headers ?? '');
  if (!extraHeaders.ok) return extraHeaders;
  const speech = speechDetection(body, { bidirectional, audioTrack });
  if (!speech.ok) return speech;
  return ok({
    serviceUrl: body.service_url,
    bidirectional,
    audioTrack,
    timeoutMs: (body.stream_timeout ?? STREAM_SECONDS_DEFAULT) * SECOND_MS,
    ...format.value,
    statusCallback: callbackTarget(body.status_callback_url, body.status_callback_method),
    extraHeaders: extraHeaders.value,
    speech: speech.value,
    ...cleaning(body),
    playPositions: body.play_positions ?? false,
  });
}

const TOO_MANY = {
  tooMany: failure(409, 'the call has the maximum number of streams', {
    detail: 'One bidirectional stream and four one-way streams per call.',
  }),
};

const startStream = callRoute({
  ...callCommon,
  method: 'POST',
  path: ROOT,
  summary: 'Stream the audio of a live call to a WebSocket',
  status: 202,
  params: callParams,
  body: StartBody,
  reply: Type.Object({ api_id: apiId(), message: Type.String(), stream_id: Type.String() }),
  async run({ control }, { accountId, params, body, apiId: id }) {
    const request = streamRequest(body);
    if (!request.ok) return request;
    const started = await control.startStream(
      accountId,
      callUuidOf(params.call_uuid),
      request.value,
    );
    return answered(
      started,
      ({ streamId }) => ({
        api_id: id,
        message: 'audio streaming started',
        stream_id: streamId,
      }),
      TOO_MANY,
    );
  },
});

const listStreams = callRoute({
  ...callCommon,
  method: 'GET',
  path: ROOT,
  summary: 'List the streams of a live call',
  params: callParams,
  query: Type.Object(sliceQuery),
  reply: Type.Object({
    api_id: apiId(),
    meta: Type.Object({
      count: Type.Integer(),
      limit: Type.Integer(),
      offset: Type.Integer(),
      next: nullableText(),
      previous: nullableText(),
    }),
    objects: Type.Array(StreamSchema),
  }),
  async run({ control }, { accountId, access, params, query, apiId: id }) {
    const slice = sliceOf(query);
    const resource = `/v1/Account/${access.account.authId}/Call/${params.call_uuid}/Stream/`;
    return answered(await control.streams(accountId, callUuidOf(params.call_uuid)), (streams) => {
      const items = streams.slice(slice.offset, slice.offset + slice.limit);
      const meta = metaOf({ items, total: streams.length }, slice, resource, query);
      const { limit, offset, next, previous } = meta;
      return {
        api_id: id,
        meta: { count: streams.length, limit, offset, next, previous },
        objects: items.map((stream) => showStream(stream, access.account.authId)),
      };
    });
  },
});

const streamParams = Type.Object({
  auth_id: accountIdText(),
  call_uuid: Type.String(),
  stream_id: streamIdText(),
});

const getStream = callRoute({
  ...callCommon,
  method: 'GET',
  path: `${ROOT}{stream_id}/`,
  summary: 'Get a stream of a live call',
  params: streamParams,
  reply: StreamSchema,
  async run({ control }, { accountId, access, params, apiId: id }) {
    const streams = await control.streams(accountId, callUuidOf(params.call_uuid));
    if (!streams.ok) return refused(streams.error);
    const found = streams.value.find(({ streamId }) => streamId === streamIdOf(params.stream_id));
    if (found === undefined) return refused({ kind: 'notFound', what: 'stream' });
    return ok({ api_id: id, ...showStream(found, access.account.authId) });
  },
});

/** `drain`: plays the queued audio of the bot first. A document that waits for the stream continues afterwards. */
const stopQuery = Type.Object({
  drain: Type.Optional(flag(false)),
});

const stopStream = callRoute({
  ...callCommon,
  method: 'DELETE',
  path: `${ROOT}{stream_id}/`,
  summary: 'Stop a stream',
  status: 204,
  params: streamParams,
  query: stopQuery,
  run: async ({ control }, { accountId, params, query }) =>
    answered(
      await control.stopStream(
        accountId,
        callUuidOf(params.call_uuid),
        streamIdOf(params.stream_id),
        query.drain,
      ),
      () => undefined,
    ),
});

const stopStreams = callRoute({
  ...callCommon,
  method: 'DELETE',
  path: ROOT,
  summary: 'Stop all streams of a call',
  status: 204,
  params: callParams,
  query: stopQuery,
  run: async ({ control }, { accountId, params, query }) =>
    answered(
      await control.stopStream(accountId, callUuidOf(params.call_uuid), undefined, query.drain),
      () => undefined,
    ),
});

export const streamRoutes: readonly Route[] = [
  startStream,
  listStreams,
  getStream,
  stopStream,
  stopStreams,
];
