import { SECOND_MS, secondsOf } from './duration.ts';
import { assert } from './errors.ts';

/** Money as integer millionths of a currency unit. Never fractional. */
export type Micros = number & { readonly __brand: 'Micros' };

export const MICROS_PER_UNIT = 1_000_000;

export function micros(value: number): Micros {
  assert(Number.isSafeInteger(value), `money must be a safe integer of millionths, got ${value}`);
  return value as Micros;
}

export const ZERO = micros(0);

/** Converts a JSON number of units to millionths, rounding half away from zero. Undefined if out of range. */
export function microsFromUnits(units: number): Micros | undefined {
  if (!Number.isFinite(units)) return undefined;
  const scaled = Math.abs(units) * MICROS_PER_UNIT;
  const rounded = Math.floor(Number((scaled + 0.5).toPrecision(15)));
  if (!Number.isSafeInteger(rounded)) return undefined;
  return micros(units < 0 ? -rounded : rounded) as Micros;
}

/** Converts millionths to the JSON number of units. */
export const unitsFromMicros = (value: number): number => value / MICROS_PER_UNIT;

/** Returns answered time as shown in a CDR (`billsec`): rounded to whole seconds, at least one. Billing uses this value. */
export const billableMs = (answeredMs: number): number =>
  Math.max(1, Math.round(answeredMs / SECOND_MS)) * SECOND_MS;

/** Returns the billable time of a leg between two times in microseconds. 0 if it was never answered. */
export const answeredTimeMs = (answerUs: number | undefined, endUs: number): number =>
  answerUs === undefined ? 0 : billableMs(Math.max(0, endUs - answerUs) / 1000);

/** Rounds billable time up to whole pulses, at least one. */
export function pulsedMs(answeredMs: number, pulseMs: number): number {
  assert(pulseMs > 0, 'pulse must be positive');
  return Math.ceil(billableMs(answeredMs) / pulseMs) * pulseMs;
}

/**
 * Returns the time that must be paid for the activity to continue after `elapsedMs`: all started pulses, including
 * the one that starts then.
 */
export function pulsesBegun(elapsedMs: number, pulseMs: number): number {
  assert(pulseMs > 0, 'pulse must be positive');
  return (Math.floor(Math.max(0, elapsedMs) / pulseMs) + 1) * pulseMs;
}

/** Returns the price of a pulsed duration at a per-minute rate, rounded up to a whole millionth. */
export function priceOf(pulsedTimeMs: number, perMinute: Micros): Micros {
  return micros(Math.ceil((secondsOf(pulsedTimeMs) * perMinute) / 60));
}
