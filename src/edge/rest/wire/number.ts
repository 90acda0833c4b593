import type { AccountId } from '../../../base/ids.ts';
import { unitsFromMicros } from '../../../base/money.ts';
import { isoMicros, isoOrNull } from '../../../base/time-format.ts';
import type { PhoneNumber } from '../../../domain/provisioning/types.ts';
import {
  nullableAppId,
  nullableText,
  nullableTimestamp,
  type Static,
  Type,
  timestamp,
} from '../http/schema.ts';

/** A number of an account (dialect §3.8). */
export const NumberSchema = Type.Object({
  id: Type.String(),
  account_id: nullableText(),
  sub_account_id: nullableText(),
  e164: Type.String({ description: 'with +' }),
  country: Type.String(),
  region: Type.String(),
  capabilities: Type.Object({
    voice: Type.Boolean(),
    sms: Type.Boolean(),
    mms: Type.Boolean(),
    fax: Type.Boolean(),
  }),
  status: Type.String(),
  provider: nullableText(),
  setup_fee: Type.Number(),
  monthly_fee: Type.Number(),
  currency: Type.String(),
  application_id: nullableAppId(),
  trunk_group_id: nullableText(),
  voice_enabled: Type.Boolean(),
  tags: Type.Array(Type.String()),
  purchased_at: nullableTimestamp(),
  released_at: nullableTimestamp(),
  is_blocked: Type.Boolean(),
  is_trial_number: Type.Boolean(),
  last_billing_date: nullableTimestamp(),
  next_billing_date: nullableTimestamp(),
  cooldown_ends_at: nullableTimestamp(),
  suspended_at: nullableTimestamp(),
  alias: nullableText(),
  minimum_commitment_months: Type.Integer(),
  aadhaar_verification_required: Type.Boolean(),
  aadhaar_verified: Type.Boolean(),
  source: Type.String(),
  created_at: timestamp(),
  updated_at: timestamp(),
});

export const showNumber = (number: PhoneNumber): Static<typeof NumberSchema> => ({
  id: number.id,
  account_id: number.accountId ?? null,
  sub_account_id: number.subAccount ?? null,
  e164: `+${number.e164}`,
  country: number.country,
  region: number.region,
  capabilities: { voice: true, sms: false, mms: false, fax: false },
  status: number.status,
  provider: number.carrier ?? null,
  setup_fee: unitsFromMicros(number.setupFeeMicros),
  monthly_fee: unitsFromMicros(number.monthlyFeeMicros),
  currency: number.currency,
  application_id: number.applicationId ?? null,
  trunk_group_id: number.trunkGroupId ?? null,
  voice_enabled: number.status === 'active',
  tags: [],
  purchased_at: isoOrNull(number.purchasedUs),
  released_at: isoOrNull(number.releasedUs),
  is_blocked: number.status === 'blocked',
  is_trial_number: false,
  last_billing_date: isoOrNull(number.lastBilledUs),
  next_billing_date: isoOrNull(number.nextBillingUs),
  cooldown_ends_at: isoOrNull(number.cooldownEndsUs),
  suspended_at: isoOrNull(number.suspendedUs),
  alias: number.alias ?? null,
  minimum_commitment_months: 0,
  aadhaar_verification_required: false,
  aadhaar_verified: false,
  source: 'inventory',
  created_at: isoMicros(number.createdUs),
  updated_at: isoMicros(number.updatedUs),
});

export const ReleaseSchema = Type.Object({
  status: Type.String(),
  message: Type.String(),
  note: Type.String(),
  release_fee: Type.Number(),
  cancel_url: nullableText(),
  cooldown_ends_at: nullableTimestamp(),
});

/** Returns the result of a release: the number is free now or after its cooldown. */
export function showRelease(
  { e164, status, cooldownEndsUs }: PhoneNumber,
  accountId: AccountId,
): Static<typeof ReleaseSchema> {
  const pending = status === 'pending_release';
  return {
    status: pending ? status : 'released',
    message: pending
      ? `number +${e164} will be released when its cooldown ends`
      : `number +${e164} released`,
    note: 'The rent of the current month is not refunded.',
    release_fee: 0,
    cancel_url: pending ? `/api/v1/account/${accountId}/numbers/%2B${e164}/cancel-release` : null,
    cooldown_ends_at: isoOrNull(cooldownEndsUs),
  };
}
