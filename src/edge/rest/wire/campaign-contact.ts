/** Contacts of a campaign, attempts to call them, and caller numbers (dialect §3.11). */
import { isoMicros, isoOrNull } from '../../../base/time-format.ts';
import type {
  Attempt,
  Contact,
  ContactResult,
  PoolNumber,
  UploadSummary,
} from '../../../domain/campaign/types.ts';
import {
  hinted,
  nullableInteger,
  nullableText,
  nullableTimestamp,
  type Static,
  Type,
  timestamp,
} from '../http/schema.ts';
import { e164Field } from '../http/values.ts';
import { plus } from './campaign.ts';

const LABEL_MAX = 100;
const NUMBERS_MAX = 1000;

/** Returns the answered time in seconds. */
const durationOf = ({ answeredUs, endedUs }: Pick<Attempt, 'answeredUs' | 'endedUs'>): number =>
  answeredUs === undefined || endedUs === undefined
    ? 0
    : Math.max(0, Math.round((endedUs - answeredUs) / 1_000_000));

export const ContactSchema = Type.Object({
  id: Type.Integer(),
  row_number: Type.Integer(),
  to_number: Type.String(),
  from_number: nullableText(),
  answer_url: nullableText(),
  hangup_url: nullableText(),
  sip_headers: Type.Record(Type.String(), Type.String()),
  timezone: nullableText(),
  status: Type.String(),
  reason: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'reason for the refusal or delay',
  }),
  attempts: Type.Integer(),
  next_attempt_at: nullableTimestamp(),
  first_dial_at: nullableTimestamp(),
  call_uuid: nullableText(),
});

export const showContact = (contact: Contact): Static<typeof ContactSchema> => ({
  id: contact.id,
  row_number: contact.rowNumber,
  to_number: plus(contact.to) ?? '',
  from_number: plus(contact.from),
  answer_url: contact.answerUrl ?? null,
  hangup_url: contact.hangupUrl ?? null,
  sip_headers: Object.fromEntries(contact.headers),
  timezone: contact.timezone === '' ? null : contact.timezone,
  status: contact.status,
  reason: contact.reason ?? null,
  attempts: contact.attempts,
  next_attempt_at: isoOrNull(contact.dueUs),
  first_dial_at: isoOrNull(contact.firstDialUs),
  call_uuid: contact.callUuid ?? null,
});

export const AttemptSchema = Type.Object({
  call_uuid: Type.String(),
  campaign_id: Type.String(),
  contact_id: Type.Integer(),
  row_number: Type.Integer(),
  attempt_number: Type.Integer(),
  to_number: Type.String(),
  from_number: nullableText(),
  status: Type.String(),
  placed_at: timestamp(),
  answered_at: nullableTimestamp(),
  ended_at: nullableTimestamp(),
  duration: Type.Integer({ description: 'answered seconds' }),
  hangup_cause: nullableText(),
  hangup_cause_code: nullableInteger(),
  machine: Type.Unsafe<boolean | null>({ type: ['boolean', 'null'] }),
});

export const showAttempt = (attempt: Attempt): Static<typeof AttemptSchema> => ({
  call_uuid: attempt.callUuid,
  campaign_id: attempt.campaignId,
  contact_id: attempt.contactId,
  row_number: attempt.rowNumber,
  attempt_number: attempt.attemptNumber,
  to_number: plus(attempt.to) ?? '',
  from_number: plus(attempt.from),
  status: attempt.status,
  placed_at: isoMicros(attempt.placedUs),
  answered_at: isoOrNull(attempt.answeredUs),
  ended_at: isoOrNull(attempt.endedUs),
  duration: durationOf(attempt),
  hangup_cause: attempt.hangupCause ?? null,
  hangup_cause_code: attempt.hangupCauseCode ?? null,
  machine: attempt.machine ?? null,
});

/** Columns of the results (dialect §3.11). */
export const RESULT_COLUMNS = [
  'row_number',
  'to_number',
  'from_number_used',
  'status',
  'call_uuid',
  'duration',
  'hangup_cause',
  'attempt_number',
  'answered_at',
] as const;

/** Returns the cells of a contact with its last attempt. */
export const resultCells = ({ contact, attempt }: ContactResult) => [
  contact.rowNumber,
  plus(contact.to),
  plus(attempt?.from),
  contact.status,
  attempt?.callUuid,
  attempt === undefined ? undefined : durationOf(attempt),
  attempt?.hangupCause ?? contact.reason,
  attempt?.attemptNumber,
  attempt?.answeredUs === undefined ? undefined : isoMicros(attempt.answeredUs),
];

export const UploadReply = Type.Object({
  valid_contacts: Type.Integer(),
  invalid_rows: Type.Integer(),
  total_rows: Type.Integer(),
  custom_headers_detected: Type.Array(Type.String()),
  errors: Type.Array(Type.Object({ row_number: Type.Integer(), reason: Type.String() }), {
    description: 'first rejected rows; all of them at …/upload/errors',
  }),
});

export const showUpload = (
  summary: UploadSummary,
  headers: readonly string[],
  bad: ReadonlyArray<{ readonly rowNumber: number; readonly reason: string }>,
): Static<typeof UploadReply> => ({
  valid_contacts: summary.validContacts,
  invalid_rows: summary.invalidRows,
  total_rows: summary.totalRows,
  custom_headers_detected: [...headers],
  errors: bad.map(({ rowNumber, reason }) => ({ row_number: rowNumber, reason })),
});

export const PoolBody = Type.Object({
  numbers: hinted(
    Type.Array(
      Type.Object({
        from_number: e164Field(),
        label: Type.Optional(Type.String({ maxLength: LABEL_MAX })),
      }),
      { minItems: 1, maxItems: NUMBERS_MAX },
    ),
    `must hold 1 to ${NUMBERS_MAX} numbers`,
  ),
});

export const PoolNumberBody = Type.Object({
  from_number: Type.Optional(e164Field()),
  label: Type.Optional(Type.String({ maxLength: LABEL_MAX })),
});

export const PoolNumberSchema = Type.Object({
  id: Type.String(),
  from_number: Type.String(),
  label: Type.String(),
  total_calls: Type.Integer(),
  last_used_at: nullableTimestamp(),
});

export const showPoolNumber = (number: PoolNumber): Static<typeof PoolNumberSchema> => ({
  id: number.id,
  from_number: plus(number.number) ?? '',
  label: number.label,
  total_calls: number.totalCalls,
  last_used_at: isoOrNull(number.lastUsedUs),
});
