import { secondsOf } from '../../../base/duration.ts';
import { answeredTimeMs, unitsFromMicros } from '../../../base/money.ts';
import { isoMicros, isoOrNull } from '../../../base/time-format.ts';
import type { CdrRecord, CdrSummary, StreamCdr } from '../../../domain/cdr/types.ts';
import {
  nullableInteger,
  nullableNumber,
  nullableText,
  nullableTimestamp,
  type Static,
  Type,
  timestamp,
} from '../http/schema.ts';
import { basicQuality, hundredths, moreQuality, qualityFields } from './quality.ts';

const StreamCdrSchema = Type.Object({
  stream_id: Type.String(),
  service_url: Type.String(),
  audio_track: Type.String(),
  bidirectional: Type.Boolean(),
  content_type: Type.String(),
  start_time: timestamp(),
  end_time: timestamp(),
  duration: Type.Integer({ description: 'connected seconds, without reconnection time' }),
  rounded_bill_duration: Type.Integer({ description: 'seconds' }),
  billed_amount: Type.Number(),
  currency: Type.String(),
  stream_termination_reason: Type.String(),
  disclosed_at: Type.Optional(timestamp()),
  turns: Type.Optional(
    Type.Object(
      {
        count: Type.Integer(),
        interruptions: Type.Integer(),
        p50_ms: nullableNumber(),
        p95_ms: nullableNumber(),
      },
      {
        description:
          'latency from the caller’s last speech to the bot’s first audio; null without any turn',
      },
    ),
  ),
});

export const CdrSchema = Type.Object({
  id: Type.Integer(),
  uuid: Type.String(),
  account_id: Type.String(),
  call_direction: Type.String(),
  context: Type.String(),
  region: Type.String(),
  origination_region: Type.String(),
  caller_id_name: Type.String(),
  caller_id_number: Type.String(),
  destination_number: Type.String(),
  start_time: timestamp(),
  progress_time: nullableTimestamp(),
  answer_time: nullableTimestamp(),
  end_time: timestamp(),
  duration: Type.Integer({ description: 'seconds from start to end, including ringing' }),
  billsec: Type.Integer({ description: 'answered seconds' }),
  ring_time: Type.Integer({ description: 'seconds from ringing to answer or end' }),
  cost: Type.Number(),
  streaming_cost: Type.Number(),
  total_cost: Type.Number(),
  currency: Type.String(),
  hangup_cause: Type.String(),
  hangup_cause_code: Type.Integer(),
  hangup_cause_name: Type.String(),
  hangup_source: Type.String(),
  hangup_disposition: Type.String(),
  failure_code: nullableInteger(),
  failure_reason: nullableText(),
  bridge_uuid: nullableText(),
  sip_call_id: nullableText(),
  sip_user_agent: nullableText(),
  network_addr: nullableText(),
  carrier_ip: nullableText(),
  codec: nullableText(),
  mos: nullableNumber(),
  jitter: nullableNumber(),
  packet_loss: nullableNumber(),
  campaign_id: nullableText(),
  customer_endpoint: nullableText(),
  trunk_id: nullableText(),
  terminated_to: nullableText(),
  created_at: timestamp(),
  updated_at: timestamp(),
  ...Type.Partial(Type.Object(qualityFields)).properties,
  rounded_bill_duration: Type.Optional(Type.Integer({ description: 'seconds' })),
  stir_verification: Type.Optional(Type.String()),
  stir_attestation: Type.Optional(Type.String()),
  consent: Type.Optional(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'given or refused; null: the party was not asked',
    }),
  ),
  consent_at: Type.Optional(nullableTimestamp()),
  stream_termination_reason: Type.Optional(nullableText()),
  stream_cdrs: Type.Optional(Type.Array(StreamCdrSchema)),
});

export const CdrSummarySchema = Type.Object({
  totalCalls: Type.Integer(),
  answeredCalls: Type.Integer(),
  answerRate: Type.Number({ description: 'percent' }),
  avgCallDuration: Type.String({ description: 'answered seconds per answered call, e.g. 28s' }),
  total_duration_seconds: Type.Integer(),
  total_billable_seconds: Type.Integer(),
  total_cost: Type.Number(),
  last_call_at: nullableTimestamp(),
});

const seconds = (fromUs: number, toUs: number): number =>
  Math.max(0, Math.round((toUs - fromUs) / 1_000_000));

const showStream = (stream: StreamCdr): Static<typeof StreamCdrSchema> => ({
  stream_id: stream.streamId,
  service_url: stream.serviceUrl,
  audio_track: stream.audioTrack,
  bidirectional: stream.bidirectional,
  content_type: stream.contentType,
  start_time: isoMicros(stream.startUs),
  end_time: isoMicros(stream.endUs),
  duration: stream.billedMs === 0 ? 0 : secondsOf(answeredTimeMs(0, stream.connectedUs)),
  rounded_bill_duration: secondsOf(stream.billedMs),
  billed_amount: unitsFromMicros(stream.billedAmount),
  currency: stream.currency,
  stream_termination_reason: stream.terminationReason,
  ...(stream.disclosedUs !== undefined && { disclosed_at: isoMicros(stream.disclosedUs) }),
  ...(stream.turns && {
    turns: {
      count: stream.turns.count,
      interruptions: stream.turns.interruptions,
      p50_ms: stream.turns.count === 0 ? null : stream.turns.p50Ms,
      p95_ms: stream.turns.count === 0 ? null : stream.turns.p95Ms,
    },
  }),
});

/** `strict`: omits members that the typed Vobiz client does not know. */
export function showCdr(record: CdrRecord, strict = false): Static<typeof CdrSchema> {
  const { cdr } = record;
  const answeredUs = cdr.answerUs;
  const written = isoMicros(record.createdUs);
  return {
    id: record.number,
    uuid: cdr.callUuid,
    account_id: cdr.accountId,
    call_direction: cdr.direction,
    context: cdr.context,
    region: 'local',
    origination_region: 'local',
    caller_id_name: cdr.callerName,
    caller_id_number: cdr.from,
    destination_number: cdr.to,
    start_time: isoMicros(cdr.startUs),
    progress_time: isoOrNull(cdr.ringUs),
    answer_time: isoOrNull(answeredUs),
    end_time: isoMicros(cdr.endUs),
    duration: seconds(cdr.startUs, cdr.endUs),
    billsec: secondsOf(answeredTimeMs(answeredUs, cdr.endUs)),
    ring_time: cdr.ringUs === undefined ? 0 : seconds(cdr.ringUs, answeredUs ?? cdr.endUs),
    cost: unitsFromMicros(cdr.cost),
    streaming_cost: unitsFromMicros(cdr.streamingCost),
    total_cost: unitsFromMicros(cdr.cost + cdr.streamingCost),
    currency: cdr.currency,
    hangup_cause: cdr.hangupCause,
    hangup_cause_code: cdr.hangupCauseCode,
    hangup_cause_name: cdr.hangupCauseName,
    hangup_source: cdr.hangupSource,
    hangup_disposition: cdr.hangupDisposition,
    failure_code: cdr.failureReason === undefined ? null : cdr.hangupCauseCode,
    failure_reason: cdr.failureReason ?? null,
    bridge_uuid: cdr.bridgeUuid ?? null,
    sip_call_id: cdr.sipCallId ?? null,
    sip_user_agent: cdr.sipUserAgent ?? null,
    network_addr: cdr.remoteAddress ?? null,
    carrier_ip: cdr.carrier === undefined ? null : (cdr.remoteAddress ?? null),
    codec: cdr.codec ?? null,
    ...basicQuality(cdr.quality),
    campaign_id: cdr.campaignId ?? null,
    customer_endpoint: cdr.endpointId ?? null,
    trunk_id: cdr.trunkId ?? null,
    terminated_to: cdr.terminatedTo ?? null,
    created_at: written,
    updated_at: written,
    ...(!strict && {
      ...moreQuality(cdr.quality),
      rounded_bill_duration: secondsOf(cdr.billedMs),
      stir_verification: cdr.stirVerification ?? 'Not Applicable',
      stir_attestation: cdr.stirAttestation ?? '',
      consent: cdr.consent ?? null,
      consent_at: isoOrNull(cdr.consentUs),
      stream_termination_reason: cdr.streams.at(-1)?.terminationReason ?? null,
      stream_cdrs: cdr.streams.map(showStream),
    }),
  };
}

export function showCdrSummary(summary: CdrSummary): Static<typeof CdrSummarySchema> {
  const { totalCalls, answeredCalls } = summary;
  const talkedSeconds = summary.totalAnsweredUs / 1_000_000;
  return {
    totalCalls,
    answeredCalls,
    answerRate: totalCalls === 0 ? 0 : hundredths((answeredCalls / totalCalls) * 100),
    avgCallDuration: `${answeredCalls === 0 ? 0 : Math.round(talkedSeconds / answeredCalls)}s`,
    total_duration_seconds: Math.round(summary.totalDurationUs / 1_000_000),
    total_billable_seconds: secondsOf(summary.totalBilledMs),
    total_cost: unitsFromMicros(summary.totalCost),
    last_call_at: isoOrNull(summary.lastCallUs),
  };
}
