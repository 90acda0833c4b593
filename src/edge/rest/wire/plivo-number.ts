import { secondsOf } from '../../../base/duration.ts';
import { unitsFromMicros } from '../../../base/money.ts';
import type { Ledger } from '../../../domain/ledger/ledger.ts';
import type { Rate } from '../../../domain/ledger/types.ts';
import type { PhoneNumber } from '../../../domain/provisioning/types.ts';
import { nullableText, type Static, Type } from '../http/schema.ts';

/** Formats an amount as text with five decimals, as in Plivo's replies. */
const amount = (millionths: number): string => unitsFromMicros(millionths).toFixed(5);

const shared = {
  number: Type.String(),
  country: Type.String(),
  region: Type.String(),
  monthly_rental_rate: Type.String(),
  resource_uri: Type.String(),
  sms_enabled: Type.Boolean(),
  sms_rate: Type.String(),
  voice_enabled: Type.Boolean(),
  voice_rate: nullableText(),
};

/** A number of the account. */
export const PlivoNumberSchema = Type.Object({
  ...shared,
  added_on: nullableText(),
  alias: nullableText(),
  application: nullableText(),
  carrier: nullableText(),
  number_type: Type.String(),
  sub_account: nullableText(),
});

/** A number that can be bought. */
export const PlivoOfferSchema = Type.Object({
  ...shared,
  city: nullableText(),
  lata: nullableText(),
  prefix: nullableText(),
  rate_center: nullableText(),
  restriction: nullableText(),
  restriction_text: nullableText(),
  setup_rate: Type.String(),
  type: Type.String(),
});

/** `voiceRate`: price of an inbound minute for the account, millionths; undefined if the number is not sold. */
const common = (number: PhoneNumber, voiceRate: number | undefined) => ({
  number: number.e164,
  country: number.country,
  region: number.region,
  monthly_rental_rate: amount(number.monthlyFeeMicros),
  sms_enabled: false,
  sms_rate: amount(0),
  voice_enabled: number.status !== 'suspended',
  voice_rate: voiceRate === undefined ? null : amount(voiceRate),
});

export const showPlivoNumber = (
  number: PhoneNumber,
  voiceRate: number | undefined,
): Static<typeof PlivoNumberSchema> => {
  const account = `/v1/Account/${number.accountId}`;
  return {
    ...common(number, voiceRate),
    added_on:
      number.purchasedUs === undefined
        ? null
        : new Date(number.purchasedUs / 1000).toISOString().slice(0, 10),
    alias: number.alias ?? null,
    application:
      number.applicationId === undefined ? null : `${account}/Application/${number.applicationId}/`,
    carrier: number.carrier ?? null,
    number_type: 'local',
    resource_uri: `${account}/Number/${number.e164}/`,
    sub_account: number.subAccount === undefined ? null : `/v1/Account/${number.subAccount}/`,
  };
};

export const showPlivoOffer = (
  number: PhoneNumber,
  accountId: string,
  voiceRate: number | undefined,
): Static<typeof PlivoOfferSchema> => ({
  ...common(number, voiceRate),
  city: null,
  lata: null,
  prefix: null,
  rate_center: null,
  resource_uri: `/v1/Account/${accountId}/PhoneNumber/${number.e164}/`,
  restriction: null,
  restriction_text: null,
  setup_rate: amount(number.setupFeeMicros),
  type: 'fixed',
});

const RateSchema = Type.Object({ rate: nullableText() });
export const PricingSchema = Type.Object({
  api_id: Type.String(),
  country: Type.String(),
  country_code: Type.String(),
  country_iso: Type.String(),
  currency: Type.String(),
  phone_numbers: Type.Object({ local: RateSchema }),
  voice: Type.Object({
    inbound: Type.Object({ ip: RateSchema, local: RateSchema }),
    outbound: Type.Object({
      ip: RateSchema,
      local: RateSchema,
      rates: Type.Array(
        Type.Object({
          prefix: Type.Array(Type.String()),
          rate: Type.String(),
          billing_increment_seconds: Type.Integer(),
        }),
      ),
    }),
  }),
});

/** Returns the prices of calls to and from numbers that begin with `callingCode`, for one account in its currency. */
export function pricesOf(
  ledger: Pick<Ledger, 'rateBook' | 'listRates'>,
  account: { readonly authId: Parameters<Ledger['balance']>[0]; readonly currency: string },
  callingCode: string,
): Pick<Static<typeof PricingSchema>, 'phone_numbers' | 'voice'> {
  const { authId, currency } = account;
  const quoted = (direction: Rate['direction'], number: string): { rate: string | null } => {
    const rate = ledger.rateBook.quote(direction, number, authId, currency);
    return { rate: rate === undefined ? null : amount(rate.perMinute) };
  };
  const own = ledger
    .listRates()
    .filter(
      (rate) =>
        rate.direction === 'outbound' &&
        rate.currency === currency &&
        (rate.accountId === undefined || rate.accountId === authId) &&
        rate.prefix.startsWith(callingCode),
    )
    // An account-specific price replaces the common one.
    .filter(
      (rate) =>
        ledger.rateBook.quote('outbound', rate.prefix, authId, currency)?.perMinute ===
        rate.perMinute,
    );
  return {
    phone_numbers: { local: quoted('number', callingCode) },
    voice: {
      inbound: { ip: quoted('sip', ''), local: quoted('inbound', callingCode) },
      outbound: {
        ip: quoted('sip', ''),
        local: quoted('outbound', callingCode),
        rates: own
          .map((rate) => ({
            prefix: [rate.prefix],
            rate: amount(rate.perMinute),
            billing_increment_seconds: secondsOf(rate.pulseMs),
          }))
          .sort((a, b) => ((a.prefix[0] ?? '') < (b.prefix[0] ?? '') ? -1 : 1)),
      },
    },
  };
}
