import { secondsOf } from '../../../base/duration.ts';
import type { AccountId } from '../../../base/ids.ts';
import type { Recording } from '../../../domain/recording/types.ts';
import { nullableText, type Static, Type } from '../http/schema.ts';

const US_PER_DAY = 86_400_000_000;
const MS_PER_MINUTE = 60_000;

/** A recording (dialect §3.7). Millisecond fields are text with five decimals. */
export const RecordingSchema = Type.Object({
  api_id: Type.Optional(Type.String()),
  recording_id: Type.String(),
  call_uuid: nullableText(),
  conference_name: nullableText(),
  conference_uuid: nullableText(),
  from_number: Type.String(),
  to_number: Type.String(),
  add_time: Type.String({ description: 'YYYY-MM-DD HH:MM:SS.ffffff+00:00' }),
  recording_duration_ms: Type.String(),
  recording_start_ms: nullableText(),
  recording_end_ms: nullableText(),
  recording_format: Type.String(),
  recording_type: Type.String(),
  recording_url: Type.String({ description: 'needs credentials' }),
  resource_uri: Type.String(),
  rounded_recording_duration: Type.Integer({ description: 'seconds charged, in whole pulses' }),
  recording_storage_duration: Type.Integer({ description: 'days' }),
  recording_storage_rate: Type.Number(),
  monthly_recording_storage_amount: Type.Number(),
});

/** Returns the path of a recording's file. `signPath` turns it into a link that needs no credentials. */
export const recordingFilePath = (
  recording: Pick<Recording, 'accountId' | 'recordingId' | 'format'>,
): string =>
  `/api/v1/Account/${recording.accountId}/Recording/${recording.recordingId}.${recording.format}`;

const fiveDecimals = (ms: number): string => ms.toFixed(5);
const epochMs = (us: number | undefined): string | null =>
  us === undefined ? null : fiveDecimals(us / 1000);

/** Formats a time as `2025-11-06 13:49:10.751756+00:00`. */
function addTime(us: number): string {
  const ms = Math.floor(us / 1000);
  const micros = String(us - ms * 1000).padStart(3, '0');
  return `${new Date(ms).toISOString().replace('T', ' ').slice(0, -1)}${micros}+00:00`;
}

export const showRecording = (
  recording: Recording,
  context: {
    readonly publicUrl: string;
    readonly nowUs: number;
    /** Account of the client, whose credentials open these URLs. */
    readonly authId: AccountId;
  },
): Static<typeof RecordingSchema> => ({
  recording_id: recording.recordingId,
  call_uuid: recording.callUuid ?? null,
  conference_name: recording.conferenceName ?? null,
  conference_uuid: recording.conferenceUuid ?? null,
  from_number: recording.fromNumber,
  to_number: recording.toNumber,
  add_time: addTime(recording.addedUs),
  recording_duration_ms: fiveDecimals(recording.durationMs),
  recording_start_ms: epochMs(recording.startUs),
  recording_end_ms: epochMs(recording.endUs),
  recording_format: recording.format,
  recording_type: recording.type,
  recording_url: `${context.publicUrl}${recordingFilePath({ ...recording, accountId: context.authId })}`,
  resource_uri: `/v1/Account/${context.authId}/Recording/${recording.recordingId}/`,
  rounded_recording_duration: secondsOf(
    recording.billedMs ?? Math.ceil(recording.durationMs / MS_PER_MINUTE) * MS_PER_MINUTE,
  ),
  recording_storage_duration: Math.max(
    0,
    Math.floor((context.nowUs - recording.addedUs) / US_PER_DAY),
  ),
  recording_storage_rate: 0,
  monthly_recording_storage_amount: 0,
});
