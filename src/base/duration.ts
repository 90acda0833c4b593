/** Durations are milliseconds inside; seconds, minutes and days are spoken by what is outside (wire, settings, columns). */
export const SECOND_MS = 1000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

export const secondsOf = (ms: number): number => ms / SECOND_MS;
export const daysOf = (ms: number): number => ms / DAY_MS;

/** Of seconds that may be absent. */
export const inMs = (seconds: number | undefined): number | undefined =>
  seconds === undefined ? undefined : seconds * SECOND_MS;
