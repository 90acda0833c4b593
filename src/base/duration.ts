/** Time units. Durations inside the service are milliseconds; wire formats, settings and columns may use other units. */
export const SECOND_MS = 1000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

export const secondsOf = (ms: number): number => ms / SECOND_MS;
export const daysOf = (ms: number): number => ms / DAY_MS;

/** Converts optional seconds to milliseconds. */
export const inMs = (seconds: number | undefined): number | undefined =>
  seconds === undefined ? undefined : seconds * SECOND_MS;
