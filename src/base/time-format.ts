const two = (n: number): string => String(n).padStart(2, '0');

/** `YYYY-MM-DDTHH:MM:SS.ffffffZ` from integer microseconds UTC (spec: Resources, timestamps). */
export function isoMicros(epochUs: number): string {
  const ms = Math.floor(epochUs / 1000);
  const us = epochUs - ms * 1000;
  return `${new Date(ms).toISOString().slice(0, -1)}${String(us).padStart(3, '0')}Z`;
}

/** `YYYY-MM-DD HH:mm:ss.ffffff` UTC. */
export const dateTimeMicros = (epochUs: number): string =>
  isoMicros(epochUs).replace('T', ' ').slice(0, -1);

/** `YYYY-MM-DD HH:mm:ss.sssss` UTC, five decimals: `SessionStart` (spec, Call callbacks). */
export const sessionStart = (epochUs: number): string => dateTimeMicros(epochUs).slice(0, -1);

/** `yyyy-MM-dd HH:mm:ss` in local time: StartTime, AnswerTime and EndTime of the hangup callback. */
export function localDateTime(epochMs: number): string {
  const d = new Date(epochMs);
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
}
