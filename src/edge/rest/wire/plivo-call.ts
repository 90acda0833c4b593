import { secondsOf } from '../../../base/duration.ts';
import type { AccountId } from '../../../base/ids.ts';
import { answeredTimeMs, unitsFromMicros } from '../../../base/money.ts';
import { dateTimeMicros, sessionStart } from '../../../base/time-format.ts';
import type { CdrRecord } from '../../../domain/cdr/types.ts';
import type { LiveCall } from '../../../domain/dispatch/types.ts';

/** Converts a live or waiting call (dialect §3.4). */
export const showPlivoLiveCall = (call: LiveCall) => ({
  call_status: call.status === 'queued' ? 'queued' : call.status,
  call_uuid: call.callUuid,
  request_uuid: call.requestUuid ?? '',
  caller_name: call.callerName,
  direction: call.direction,
  from: call.from,
  to: call.to,
  ...(call.status !== 'queued' && {
    session_start: sessionStart(call.startUs),
    stir_attestation: call.stirAttestation,
    stir_verification: call.stirVerification,
  }),
});

const time = (us: number | undefined): string | null =>
  us === undefined ? null : `${dateTimeMicros(us)}+00:00`;

/**
 * Converts a finished call (dialect §3.4), with the members for Vobiz clients in addition to Plivo's. `authId`: account of
 * the client, whose credentials open `resource_uri`.
 */
export function showCompletedCall({ cdr }: CdrRecord, authId: AccountId) {
  const answered = secondsOf(answeredTimeMs(cdr.answerUs, cdr.endUs));
  const total = unitsFromMicros(cdr.cost + cdr.streamingCost);
  const rate = unitsFromMicros(cdr.perMinute);
  return {
    call_uuid: cdr.callUuid,
    call_direction: cdr.direction,
    call_state: cdr.answerUs === undefined ? 'NO_ANSWER' : 'ANSWER',
    from_number: cdr.from,
    to_number: cdr.to,
    initiation_time: time(cdr.startUs),
    answer_time: time(cdr.answerUs),
    end_time: time(cdr.endUs),
    call_duration: answered,
    bill_duration: answered,
    billed_duration: secondsOf(cdr.billedMs),
    total_amount: total.toFixed(5),
    total_rate: rate.toFixed(5),
    hangup_cause_code: cdr.hangupCauseCode,
    hangup_cause_name: cdr.hangupCauseName,
    hangup_source: cdr.hangupSource,
    parent_call_uuid: cdr.parentCallUuid ?? null,
    conference_uuid: null,
    source_ip: cdr.remoteAddress ?? null,
    stir_attestation: '',
    stir_verification: 'Not Applicable',
    resource_uri: `/v1/Account/${authId}/Call/${cdr.callUuid}/`,
    status: cdr.answerUs === undefined ? 'no-answer' : 'completed',
    duration: answered,
    total_cost: total,
    call_rate: rate,
  };
}
