/** Values of the wire that need more than a schema to be taken apart. */
import { isIP } from 'node:net';
import { assert } from '../../../base/errors.ts';
import { type Micros, microsFromUnits } from '../../../base/money.ts';
import { plainNumber } from '../../../base/phone-number.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import { parseWindowBound } from '../../../domain/ledger/ledger.ts';
import { type Failure, invalidField } from './failure.ts';
import { hinted, Type } from './schema.ts';

/** Largest amount of a request, in units: its millionths are still safe integers. */
const AMOUNT_MAX = 9_000_000_000;

/** A JSON number of currency units, or the same as text. */
export const amountField = (minimum = 0) => Type.Number({ minimum, maximum: AMOUNT_MAX });

/** The schema's bound keeps every amount within the range of millionths. */
export function amountOf(units: number): Micros {
  const amount = microsFromUnits(units);
  assert(amount !== undefined, 'amount beyond its schema');
  return amount;
}

const E164 = /^\+?[1-9]\d{6,14}$/;

export const e164Field = () =>
  hinted(
    Type.String({ pattern: '^\\+?[1-9][0-9]{6,14}$' }),
    'must be an E.164 number of 7 to 15 digits',
  );

/** Digits without `+`; undefined when it is no E.164 number. */
export const e164Digits = (text: string): string | undefined =>
  E164.test(text) ? text.replace('+', '') : undefined;

/** A caller id of the account, or null: none. */
export const callerIdField = () =>
  hinted(
    Type.Unsafe<string | null>({ type: ['string', 'null'], pattern: '^\\+?[1-9][0-9]{6,14}$' }),
    'must be an E.164 number of 7 to 15 digits, or null',
  );

/** What a `caller_id` of a body sets; null clears. */
export const callerIdPatch = (
  callerId: string | null | undefined,
): { readonly callerId?: string | undefined } =>
  callerId === undefined ? {} : { callerId: callerId === null ? undefined : plainNumber(callerId) };

const SIP_URI =
  /^(sips?):(?:[^\s\u0000-\u001f\u007f<>"@]+@)?(\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_.])?)(?::(\d+))?(;[^\s\u0000-\u001f\u007f<>"?]*)?$/i;
const PORT_MAX = 65_535;

/** What is wrong with a SIP address that is to be called, to follow a field's name; undefined: nothing. */
export function sipUriProblem(text: string): string | undefined {
  const [whole, scheme = '', , port, parameters = ''] = SIP_URI.exec(text) ?? [];
  if (whole === undefined || !text.includes('@')) return 'holds no SIP URI: sip:user@host:port';
  if (port !== undefined && (Number(port) < 1 || Number(port) > PORT_MAX)) {
    return `holds a SIP URI with port ${port}: ports are 1 to ${PORT_MAX}`;
  }
  if (/^sips$/i.test(scheme) || /;transport=(tls|wss)(;|$)/i.test(parameters)) {
    return 'holds a SIP URI that asks for TLS, which is not available';
  }
  return undefined;
}

export const currencyField = () =>
  hinted(Type.String({ pattern: '^[A-Za-z]{3}$' }), 'must be a three-letter currency code');

/** All four parts of an IPv4 address, and a prefix length that fits the family. */
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

/** Two optional inclusive bounds; the failure names the field. */
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
