/** Keeps the latest log lines in memory, masked as they were written, for the console. */

/** Maximum number of lines. */
const LINES_MAX = 5000;
/** Maximum length of a kept line, characters. Longer lines keep their start. */
const LINE_MAX = 4000;
/** Maximum total length of all lines, characters. */
const TOTAL_MAX = 4_000_000;

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
type LogLevel = (typeof LEVELS)[number];

export interface LogQuery {
  /** Lowest level. Default: all. */
  readonly level?: LogLevel | undefined;
  /** Lines whose text contains this call UUID. */
  readonly callUuid?: string | undefined;
  /** Part of a line, case-insensitive. */
  readonly search?: string | undefined;
  /** Lines after the one with this number. */
  readonly after?: number | undefined;
  /** Maximum number of lines; the latest are returned. */
  readonly limit: number;
}

export interface LogLine {
  /** Number of the line since the start of the process, from 1. */
  readonly number: number;
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly level: string;
  readonly message: string;
  readonly callUuid: string | undefined;
  /** JSON of the other fields. */
  readonly fields: string;
}

export class LogRing {
  #lines: string[] = [];
  /** Number of the first line in `#lines`. */
  #first = 1;
  #total = 0;

  /** Adds a line of JSON. */
  add(line: string): void {
    const kept = line.length > LINE_MAX ? line.slice(0, LINE_MAX) : line;
    this.#lines.push(kept);
    this.#total += kept.length;
    // Drops a quarter of the lines, because removing the first item of a list moves all others.
    if (this.#lines.length > LINES_MAX || this.#total > TOTAL_MAX) this.#drop(LINES_MAX / 4);
  }

  /** Returns the matching lines, oldest first. */
  find({ level, callUuid, search, after = 0, limit }: LogQuery): readonly LogLine[] {
    const lowest = level === undefined ? 0 : LEVELS.indexOf(level);
    const part = search?.toLowerCase();
    const found: LogLine[] = [];
    for (let at = this.#lines.length - 1; at >= 0 && found.length < limit; at -= 1) {
      const number = this.#first + at;
      if (number <= after) break;
      const text = this.#lines[at] ?? '';
      if (callUuid !== undefined && !text.includes(callUuid)) continue;
      if (part !== undefined && !text.toLowerCase().includes(part)) continue;
      const line = parsed(text, number);
      if (LEVELS.indexOf(line.level as LogLevel) >= lowest) found.push(line);
    }
    return found.reverse();
  }

  #drop(count: number): void {
    const gone = this.#lines.splice(0, Math.min(count, this.#lines.length - 1));
    this.#first += gone.length;
    for (const line of gone) this.#total -= line.length;
  }
}

function parsed(text: string, number: number): LogLine {
  try {
    const { time, level, msg, callUuid, ...fields } = JSON.parse(text) as Record<string, unknown>;
    return {
      number,
      time: String(time),
      level: String(level),
      message: String(msg ?? ''),
      callUuid: typeof callUuid === 'string' ? callUuid : undefined,
      fields: Object.keys(fields).length === 0 ? '' : JSON.stringify(fields),
    };
  } catch {
    // The line was cut.
    const [, level = 'info', time = ''] = /^\{"level":"(\w+)","time":"([^"]+)"/.exec(text) ?? [];
    return { number, time, level, message: text, callUuid: undefined, fields: '' };
  }
}
