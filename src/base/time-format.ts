const two = (n: number): string => String(n).padStart(2, '0');

const SECONDS_KEPT = 64;

/** Caches the texts of recently formatted seconds. Many calls start, are answered and end within the same seconds. */
class OfSecond {
  readonly #format: (epochS: number) => string;
  readonly #texts = new Map<number, string>();

  constructor(format: (epochS: number) => string) {
    this.#format = format;
  }

  of(epochS: number): string {
    const known = this.#texts.get(epochS);
    if (known !== undefined) return known;
    if (this.#texts.size >= SECONDS_KEPT) this.#texts.clear();
    const text = this.#format(epochS);
    this.#texts.set(epochS, text);
    return text;
  }
}

const US_PER_SECOND = 1_000_000;
const isoSeconds = new OfSecond((epochS) => new Date(epochS * 1000).toISOString().slice(0, 19));

/** Formats microseconds UTC as `YYYY-MM-DDTHH:MM:SS.ffffffZ` (spec: Resources, timestamps). */
export function isoMicros(epochUs: number): string {
  const second = Math.floor(epochUs / US_PER_SECOND);
  const us = epochUs - second * US_PER_SECOND;
  return `${isoSeconds.of(second)}.${String(us).padStart(6, '0')}Z`;
}

/** Formats an optional time; returns null if it is undefined. */
export const isoOrNull = (epochUs: number | undefined): string | null =>
  epochUs === undefined ? null : isoMicros(epochUs);

/** Formats as `YYYY-MM-DD HH:mm:ss.ffffff` UTC. */
export const dateTimeMicros = (epochUs: number): string =>
  isoMicros(epochUs).replace('T', ' ').slice(0, -1);

/** Formats as `YYYY-MM-DD HH:mm:ss.sssss` UTC with five decimals: `SessionStart` (spec, Call callbacks). */
export const sessionStart = (epochUs: number): string => dateTimeMicros(epochUs).slice(0, -1);

const localSeconds = new OfSecond((epochS) => {
  const d = new Date(epochS * 1000);
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
});

/** Formats as `yyyy-MM-dd HH:mm:ss` in local time: StartTime, AnswerTime and EndTime of the hangup callback. */
export const localDateTime = (epochMs: number): string =>
  localSeconds.of(Math.floor(epochMs / 1000));
