import { SECOND_MS, secondsOf } from './duration.ts';
import { assert } from './errors.ts';

/** Integer millionths of a currency unit. Never a fraction, never a float. */
export type Micros = number & { readonly __brand: 'Micros' };

export const MICROS_PER_UNIT = 1_000_000;

export function micros(value: number): Micros {
  assert(Number.isSafeInteger(value), `money must be a safe integer of millionths, got ${value}`);
  return value as Micros;
}

export const ZERO = micros(0);

/** A JSON number of units at the edge to millionths; half away from zero. Undefined when it does not fit. */
export function microsFromUnits(units: number): Micros | undefined {
  if (!Number.isFinite(units)) return undefined;
  const scaled = Math.abs(units) * MICROS_PER_UNIT;
  const rounded = Math.floor(Number((scaled + 0.5).toPrecision(15)));
  if (!Number.isSafeInteger(rounded)) return undefined;
  return micros(units < 0 ? -rounded : rounded) as Micros;
}

/** Millionths to the JSON number of units written at the edge. */
export const unitsFromMicros = (value: number): number => value / MICROS_PER_UNIT;

/** What a CDR shows of answered time (`billsec`): whole seconds, to the nearest, and at least one. Everything billed follows from it. */
export const billableMs = (answeredMs: number): number =>
  Math.max(1, Math.round(answeredMs / SECOND_MS)) * SECOND_MS;

/** The same of a leg, between two moments in microseconds; 0 when it was never answered. */
export const answeredTimeMs = (answerUs: number | undefined, endUs: number): number =>
  answerUs === undefined ? 0 : billableMs(Math.max(0, endUs - answerUs) / 1000);

/** Billable time rounded up to whole pulses; at least one pulse when anything was answered. */
export function pulsedMs(answeredMs: number, pulseMs: number): number {
  assert(pulseMs > 0, 'pulse must be positive');
  return Math.ceil(billableMs(answeredMs) / pulseMs) * pulseMs;
}

/** Time that must be paid for before it goes on after `elapsedMs`: every pulse begun, and the one that begins then. */
export function pulsesBegun(elapsedMs: number, pulseMs: number): number {
  assert(pulseMs > 0, 'pulse must be positive');
  return (Math.floor(Math.max(0, elapsedMs) / pulseMs) + 1) * pulseMs;
}

/** Price of a pulsed duration at a per-minute rate, rounded up to a whole millionth. */
export function priceOf(pulsedTimeMs: number, perMinute: Micros): Micros {
  return micros(Math.ceil((secondsOf(pulsedTimeMs) * perMinute) / 60));
}
