import { SECOND_MS } from '../../../../base/duration.ts';
import type { RecordingId } from '../../../../base/ids.ts';
import { err } from '../../../../base/result.ts';
import { invalidField } from '../../http/failure.ts';
import type { Route } from '../../http/route.ts';
import {
  apiId,
  callUuidOf,
  flag,
  hinted,
  httpMethod,
  messageReply,
  oneOf,
  optionalHttpUrl,
  recordingIdOf,
  recordingIdText,
  Type,
} from '../../http/schema.ts';
import { answered } from '../../refusal.ts';
import { callbackTarget, parseDigits } from '../../wire/make-call.ts';
import { callCommon, callParams, callRoute } from './call-route.ts';

const ONE = '/api/v1/Account/{auth_id}/Call/{call_uuid}';
const legs = () => Type.Optional(oneOf(['aleg', 'bleg', 'both'], { default: 'aleg' }));
const TEXT_MAX = 3000;
const PLAY_SECONDS_DEFAULT = 3600;
const RECORD_SECONDS_DEFAULT = 60;
const RECORD_SECONDS_MAX = 86_400;
const URLS_MAX = 20;

export const RecordBody = Type.Object({
  time_limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: RECORD_SECONDS_MAX, default: RECORD_SECONDS_DEFAULT }),
  ),
  file_format: Type.Optional(oneOf(['mp3', 'wav'], { default: 'mp3' })),
  record_channel_type: Type.Optional(oneOf(['stereo', 'mono'], { default: 'stereo' })),
  callback_url: Type.Optional(optionalHttpUrl()),
  callback_method: Type.Optional(httpMethod()),
  transcription_type: Type.Optional(oneOf(['auto', 'hybrid'])),
  transcription_url: Type.Optional(optionalHttpUrl()),
  transcription_method: Type.Optional(httpMethod()),
});

export const RecordReply = Type.Object({
  api_id: apiId(),
  message: Type.String(),
  recording_id: Type.String(),
  url: Type.String(),
});

export const recordRequest = (body: {
  readonly time_limit?: number;
  readonly file_format?: 'mp3' | 'wav';
  readonly record_channel_type?: 'stereo' | 'mono';
  readonly callback_url?: string;
  readonly callback_method?: 'GET' | 'POST';
  readonly transcription_type?: 'auto' | 'hybrid';
  readonly transcription_url?: string;
  readonly transcription_method?: 'GET' | 'POST';
}) => ({
  maxMs: (body.time_limit ?? RECORD_SECONDS_DEFAULT) * 1000,
  format: body.file_format ?? ('mp3' as const),
  channels: body.record_channel_type ?? ('stereo' as const),
  callback: callbackTarget(body.callback_url, body.callback_method),
  transcription:
    body.transcription_type === undefined && body.transcription_url === undefined
      ? undefined
      : { callback: callbackTarget(body.transcription_url, body.transcription_method) },
});

const startRecording = callRoute({
  ...callCommon,
  method: 'POST',
  path: `${ONE}/Record/`,
  summary: 'Record a live call',
  status: 202,
  params: callParams,
  body: RecordBody,
  reply: RecordReply,
  run: async ({ control }, { accountId, params, body, apiId: id }) =>
    answered(
      await control.startRecording(accountId, callUuidOf(params.call_uuid), recordRequest(body)),
      ({ recordingId, url }) => ({
        api_id: id,
        message: 'call recording started',
        recording_id: recordingId,
        url,
      }),
    ),
});

/** Converts the recording ID of a body or query, in any case. Undefined means all recordings of the call. */
const anyRecordingId = (typed: string | undefined): RecordingId | undefined =>
  typed === undefined ? undefined : recordingIdOf(typed);

const stopRecording = callRoute({
  ...callCommon,
  method: 'DELETE',
  path: `${ONE}/Record/`,
  summary: 'Stop recording a live call',
  status: 204,
  params: callParams,
  query: Type.Object({ recording_id: Type.Optional(recordingIdText()) }),
  body: Type.Object({
    recording_id: Type.Optional(recordingIdText()),
    URL: Type.Optional(Type.String({ description: 'URL of the recording' })),
  }),
  async run({ control }, { accountId, params, query, body }) {
    const fromUrl = /([0-9a-f-]{36})\.(?:mp3|wav)/i.exec(body.URL ?? '')?.[1];
    const recordingId = anyRecordingId(body.recording_id ?? query.recording_id ?? fromUrl);
    return answered(
      await control.stopRecording(accountId, callUuidOf(params.call_uuid), recordingId),
      () => undefined,
    );
  },
});

const recordingSwitch = (word: 'Pause' | 'Resume') =>
  callRoute({
    ...callCommon,
    method: 'POST',
    path: `${ONE}/Record/${word}/`,
    summary: `${word} the recordings of a live call, or one of them`,
    status: 202,
    params: callParams,
    body: Type.Object({ recording_id: Type.Optional(recordingIdText()) }),
    reply: messageReply,
    run: async ({ control }, { accountId, params, body, apiId: id }) =>
      answered(
        await control.pauseRecording(
          accountId,
          callUuidOf(params.call_uuid),
          anyRecordingId(body.recording_id),
          word === 'Pause',
        ),
        () => ({ api_id: id, message: `recording ${word.toLowerCase()}d` }),
      ),
  });

const play = callRoute({
  ...callCommon,
  method: 'POST',
  path: `${ONE}/Play/`,
  summary: 'Play audio into a live call',
  status: 202,
  params: callParams,
  body: Type.Object({
    urls: hinted(
      Type.String({ minLength: 1, maxLength: 8192 }),
      'must be one or more URLs separated by commas',
    ),
    length: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 86_400, default: PLAY_SECONDS_DEFAULT }),
    ),
    legs: legs(),
    loop: Type.Optional(flag(false)),
    mix: Type.Optional(flag(true)),
  }),
  reply: messageReply,
  async run({ control }, { accountId, params, body, apiId: id }) {
    const urls = body.urls.split(',').map((url) => url.trim());
    if (urls.length > URLS_MAX || !urls.every((url) => /^https?:\/\/[^\s/]/i.test(url))) {
      return err(invalidField('urls', `must be 1 to ${URLS_MAX} http or https URLs`));
    }
    const started = await control.play(accountId, callUuidOf(params.call_uuid), {
      urls,
      lengthMs: (body.length ?? PLAY_SECONDS_DEFAULT) * SECOND_MS,
      legs: body.legs ?? 'aleg',
      loop: body.loop ?? false,
      mix: body.mix ?? true,
    });
    return answered(started, () => ({ api_id: id, message: 'play started' }));
  },
});

/** Creates the route that stops what another route of the same path started. */
const stopRoute = (
  what: 'Play' | 'Speak',
  operation: 'stopPlay' | 'stopSpeak',
  summary: string,
): Route =>
  callRoute({
    ...callCommon,
    method: 'DELETE',
    path: `${ONE}/${what}/`,
    summary,
    status: 204,
    params: callParams,
    run: async ({ control }, { accountId, params }) =>
      answered(await control[operation](accountId, callUuidOf(params.call_uuid)), () => undefined),
  });

const stopPlay = stopRoute('Play', 'stopPlay', 'Stop playing audio into a live call');

export const SpeakFields = {
  text: hinted(
    Type.String({ minLength: 1, maxLength: TEXT_MAX }),
    `must have 1 to ${TEXT_MAX} characters`,
  ),
  voice: Type.Optional(Type.String({ maxLength: 64, default: 'WOMAN' })),
  language: Type.Optional(Type.String({ maxLength: 16, default: 'en-US' })),
};

const speak = callRoute({
  ...callCommon,
  method: 'POST',
  path: `${ONE}/Speak/`,
  summary: 'Speak a text into a live call',
  status: 202,
  params: callParams,
  body: Type.Object({
    ...SpeakFields,
    legs: legs(),
    loop: Type.Optional(flag(false)),
    mix: Type.Optional(flag(true)),
  }),
  reply: messageReply,
  async run({ control }, { accountId, params, body, apiId: id }) {
    const started = await control.speak(accountId, callUuidOf(params.call_uuid), {
      text: body.text,
      voice: body.voice ?? 'WOMAN',
      language: body.language ?? 'en-US',
      legs: body.legs ?? 'aleg',
      loop: body.loop ?? false,
      mix: body.mix ?? true,
    });
    return answered(started, () => ({ api_id: id, message: 'speak started' }));
  },
});

const stopSpeak = stopRoute('Speak', 'stopSpeak', 'Stop speaking into a live call');

const sendDigits = callRoute({
  ...callCommon,
  method: 'POST',
  path: `${ONE}/DTMF/`,
  summary: 'Send keypad digits into a live call',
  status: 202,
  params: callParams,
  body: Type.Object({
    digits: Type.String({ minLength: 1 }),
    leg: Type.Optional(oneOf(['aleg', 'bleg', 'both'], { default: 'aleg' })),
  }),
  reply: messageReply,
  async run({ control }, { accountId, params, body, apiId: id }) {
    const digits = parseDigits(body.digits);
    if (!digits.ok) return err(invalidField('digits', digits.error));
    const sent = await control.sendDigits(
      accountId,
      callUuidOf(params.call_uuid),
      digits.value,
      body.leg ?? 'aleg',
    );
    return answered(sent, () => ({ api_id: id, message: 'digits sent' }));
  },
});

export const callActionRoutes: readonly Route[] = [
  startRecording,
  stopRecording,
  recordingSwitch('Pause'),
  recordingSwitch('Resume'),
  play,
  stopPlay,
  speak,
  stopSpeak,
  sendDigits,
];
