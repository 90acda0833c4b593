const two = (n: number): string => String(n).padStart(2, '0');

/** Keeps the text of the second that was formatted last: most moments are in the same second as the one before. */
class OfSecond {
  readonly #format: (epochS: number) => string;
  #second = Number.NaN;
  #text = '';

  constructor(format: (epochS: number) => string) {
    this.#format = format;
  }

  of(epochS: number): string {
    if (epochS !== this.#second) {
      this.#text = this.#format(epochS);
      this.#second = epochS;
    }
    return this.#text;
  }
}

const US_PER_SECOND = 1_000_000;
const isoSeconds = new OfSecond((epochS) => new Date(epochS * 1000).toISOString().slice(0, 19));

/** `YYYY-MM-DDTHH:MM:SS.ffffffZ` from integer microseconds UTC (spec: Resources, timestamps). */
export function isoMicros(epochUs: number): string {
  const second = Math.floor(epochUs / US_PER_SECOND);
  const us = epochUs - second * US_PER_SECOND;
  return `${isoSeconds.of(second)}.${String(us).padStart(6, '0')}Z`;
}

/** Of a moment that may not have come. */
export const isoOrNull = (epochUs: number | undefined): string | null =>
  epochUs === undefined ? null : isoMicros(epochUs);

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
