import { isoMicros, sessionStart } from '../../../base/time-format.ts';
import type { CallLogEntry } from '../../../domain/call/types.ts';
import type { LiveCall } from '../../../domain/dispatch/types.ts';
import { nullableText, nullableTimestamp, type Static, Type, timestamp } from '../http/schema.ts';

/** A live or waiting call (dialect §3.4). */
export const LiveCallSchema = Type.Object({
  call_uuid: Type.String(),
  request_uuid: nullableText(),
  call_status: Type.String({ description: 'queued, ringing or in-progress' }),
  direction: Type.String(),
  from: Type.String(),
  to: Type.String(),
  caller_name: Type.String(),
  session_start: Type.String(),
  start_time: timestamp(),
  answer_time: nullableTimestamp(),
  stir_verification: Type.String(),
  stir_attestation: Type.String(),
});

export const showLiveCall = (call: LiveCall): Static<typeof LiveCallSchema> => ({
  call_uuid: call.callUuid,
  request_uuid: call.requestUuid ?? null,
  call_status: call.status,
  direction: call.direction,
  from: call.from,
  to: call.to,
  caller_name: call.callerName,
  session_start: sessionStart(call.startUs),
  start_time: isoMicros(call.startUs),
  answer_time: call.answerUs === undefined ? null : isoMicros(call.answerUs),
  stir_verification: call.stirVerification,
  stir_attestation: call.stirAttestation,
});

/** An entry of a call's timeline. `facts` depends on `kind`. */
export const CallLogEntrySchema = Type.Object({
  at: timestamp(),
  kind: Type.String({ description: 'sip, xml, callback, media, stream, call or warning' }),
  text: Type.String(),
  facts: Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true }),
});

export const showLogEntry = (entry: CallLogEntry): Static<typeof CallLogEntrySchema> => ({
  at: isoMicros(entry.atUs),
  kind: entry.kind,
  text: entry.text,
  facts: { ...entry.facts },
});
