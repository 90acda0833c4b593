/** Parses request values that need more than a schema. */
import { isIP } from 'node:net';
import { assert } from '../../../base/errors.ts';
import { type Micros, microsFromUnits } from '../../../base/money.ts';
import { plainNumber } from '../../../base/phone-number.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import { parseWindowBound } from '../../../domain/ledger/ledger.ts';
import { type Failure, invalidField } from './failure.ts';
import { hinted, Type } from './schema.ts';

/** Maximum amount in a request, currency units. Its millionths are still safe integers. */
const AMOUNT_MAX = 9_000_000_000;

/** Currency units as a JSON number or as text. */
export const amountField = (minimum = 0) => Type.Number({ minimum, maximum: AMOUNT_MAX });

/** Converts units to millionths. The schema's bound keeps every amount within range. */
export function amountOf(units: number): Micros {
  const amount = microsFromUnits(units);
  assert(amount !== undefined, 'amount beyond its schema');
  return amount;
}

/**
 * Returns the part of a number to search for: the digits of the text. A text without digits keeps its letters, which no
 * number contains.
 */
export const searchedNumber = (text: string | undefined): string | undefined =>
  text?.replaceAll(/\D/g, '') || text?.replaceAll(/\P{L}/gu, '') || undefined;

const E164 = /^\+?[1-9]\d{6,14}$/;

export const e164Field = () =>
  hinted(
    Type.String({ pattern: '^\\+?[1-9][0-9]{6,14}$' }),
    'must be an E.164 number of 7 to 15 digits',
  );

/** Returns the digits without `+`, or undefined if the text is not an E.164 number. */
export const e164Digits = (text: string): string | undefined =>
  E164.test(text) ? text.replace('+', '') : undefined;

/** A caller ID of the account; null means none. */
export const callerIdField = () =>
  hinted(
    Type.Unsafe<string | null>({ type: ['string', 'null'], pattern: '^\\+?[1-9][0-9]{6,14}$' }),
    'must be an E.164 number of 7 to 15 digits, or null',
  );

/** Converts the `caller_id` of a body. null clears it. */
export const callerIdPatch = (
  callerId: string | null | undefined,
): { readonly callerId?: string | undefined } =>
  callerId === undefined ? {} : { callerId: callerId === null ? undefined : plainNumber(callerId) };

const SIP_URI =
  /^(sips?):(?:[^\s\u0000-\u001f\u007f<>"@]+@)?(\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_.])?)(?::(\d+))?(;[^\s\u0000-\u001f\u007f<>"?]*)?$/i;
const PORT_MAX = 65_535;

/** Returns the problem of a SIP address to call, as text to follow a field's name, or undefined if it is valid. */
export function sipUriProblem(text: string): string | undefined {
  const [whole, scheme = '', , port, parameters = ''] = SIP_URI.exec(text) ?? [];
  if (whole === undefined || !text.includes('@'))
    return 'has no SIP URI of the form sip:user@host:port';
  if (port !== undefined && (Number(port) < 1 || Number(port) > PORT_MAX)) {
    return `holds a SIP URI with port ${port}: ports are 1 to ${PORT_MAX}`;
  }
  if (/^sips$/i.test(scheme) || /;transport=(tls|wss)(;|$)/i.test(parameters)) {
    return 'has a SIP URI with TLS, which is not available';
  }
  return undefined;
}

export const currencyField = () =>
  hinted(Type.String({ pattern: '^[A-Za-z]{3}$' }), 'must be a three-letter currency code');

/** Checks for a complete IPv4 or IPv6 address with an optional prefix length that fits the family. */
export function isAddressOrRange(text: string): boolean {
  const [address = '', length, more] = text.split('/');
  const family = isIP(address);
  if (family === 0 || more !== undefined) return false;
  if (length === undefined) return true;
  return /^\d{1,3}$/.test(length) && Number(length) <= (family === 4 ? 32 : 128);
}

interface Window {
  readonly fromUs: number | undefined;
  readonly toUs: number | undefined;
}

/** Checks two optional inclusive bounds. The failure names the field. */
export function windowOf(
  from: readonly [field: string, value: string | undefined],
  to: readonly [field: string, value: string | undefined],
): Result<Window, Failure> {
  const bounds: (number | undefined)[] = [];
  for (const [bound, [field, value]] of [['from', from] as const, ['to', to] as const]) {
    const us = value === undefined || value === '' ? undefined : parseWindowBound(value, bound);
    if (us === undefined && value !== undefined && value !== '') {
      return err(invalidField(field, 'must be YYYY-MM-DD or an ISO 8601 timestamp'));
    }
    bounds.push(us);
  }
  return ok({ fromUs: bounds[0], toUs: bounds[1] });
}

/** Returns the failure of a time zone that does not exist, or undefined. */
export function wrongTimezone(timezone: string | undefined): Failure | undefined {
  if (timezone === undefined) return undefined;
  try {
    Intl.DateTimeFormat('en', { timeZone: timezone });
    return undefined;
  } catch {
    return invalidField('timezone', 'must be an IANA time zone, for example Europe/Berlin');
  }
}
