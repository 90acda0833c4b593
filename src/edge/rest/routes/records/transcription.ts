import { unitsFromMicros } from '../../../../base/money.ts';
import { ok } from '../../../../base/result.ts';
import type { Transcription } from '../../../../domain/transcription/types.ts';
import { accountRoute, type Route } from '../../http/route.ts';
import {
  accountIdText,
  apiId,
  recordingIdOf,
  recordingIdText,
  type Static,
  Type,
} from '../../http/schema.ts';
import { answered } from '../../refusal.ts';

const fields = {
  transcription_id: Type.String(),
  transcription: Type.String({ description: 'transcribed text; empty until status is ready' }),
  status: Type.String({ description: 'waiting, ready or failed' }),
  error: Type.Optional(Type.String()),
  recording_id: Type.String(),
  call_uuid: Type.Optional(Type.String()),
  language: Type.String(),
  duration: Type.Integer({ description: 'seconds of audio' }),
  transcription_charge: Type.Number(),
  transcription_rate: Type.Number({ description: 'price per minute' }),
};
const TranscriptionSchema = Type.Object(fields);
const Reply = Type.Object({ api_id: apiId(), ...fields });

const show = (found: Transcription): Static<typeof TranscriptionSchema> => ({
  transcription_id: found.transcriptionId,
  transcription: found.text,
  status: found.status,
  ...(found.error === undefined ? {} : { error: found.error }),
  recording_id: found.recordingId,
  ...(found.callUuid === undefined ? {} : { call_uuid: found.callUuid }),
  language: found.language,
  duration: Math.round(found.durationMs / 1000),
  transcription_charge: unitsFromMicros(found.charge),
  transcription_rate: unitsFromMicros(found.perMinute),
});

/** Target of `transcription_url` in callbacks (dialect §2.1 Record). */
const getTranscription = accountRoute({
  tag: 'Recordings',
  errors: 'resource',
  method: 'GET',
  path: '/api/v1/Account/{auth_id}/Transcription/{transcription_id}/',
  summary: 'Get the transcription of a recording',
  params: Type.Object({ auth_id: accountIdText(), transcription_id: Type.String() }),
  reply: Reply,
  run: async ({ transcriptions }, { accountId, subAccount, params, apiId: id }) =>
    answered(
      await transcriptions.get(accountId, params.transcription_id.toLowerCase(), subAccount),
      (found) => ({ api_id: id, ...show(found) }),
    ),
});

const ofRecording = accountRoute({
  tag: 'Recordings',
  errors: 'resource',
  method: 'GET',
  path: '/api/v1/Account/{auth_id}/Recording/{recording_id}/transcriptions',
  summary: 'List the transcriptions of a recording, oldest first',
  params: Type.Object({ auth_id: accountIdText(), recording_id: recordingIdText() }),
  reply: Type.Object({ api_id: apiId(), objects: Type.Array(TranscriptionSchema) }),
  async run({ recordings, transcriptions }, { accountId, subAccount, params, apiId: id }) {
    const recordingId = recordingIdOf(params.recording_id);
    const recording = await recordings.get(accountId, recordingId, subAccount);
    if (!recording.ok) return answered(recording, () => ({ api_id: id, objects: [] }));
    const found = await transcriptions.ofRecording(accountId, recordingId, subAccount);
    return ok({ api_id: id, objects: found.map(show) });
  },
});

export const transcriptionRoutes: readonly Route[] = [getTranscription, ofRecording];
