const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIMESTAMP =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(Z|z|[+-]\d{2}:?\d{2})?$/;
const DAY_MS = 86_400_000;

/**
 * Parses a bound of the ledger's window (spec: from_date, to_date; rules 4 and 5) to microseconds UTC. A bare date is
 * a UTC day: its first moment as start, 23:59:59.999999 as inclusive end. A timestamp without offset is UTC. Returns
 * undefined if the text is not a date.
 */
export function parseWindowBound(text: string, bound: 'from' | 'to'): number | undefined {
  const date = DATE.exec(text);
  if (date !== null) {
    const startMs = utcMs(date, [0, 0, 0]);
    if (startMs === undefined) return undefined;
    return bound === 'from' ? startMs * 1000 : (startMs + DAY_MS) * 1000 - 1;
  }
  const stamp = TIMESTAMP.exec(text);
  // A raw `+` arrives as a space before the offset. The pattern rejects it, so it is not read as UTC.
  if (stamp === null) return undefined;
  const clock = [Number(stamp[4]), Number(stamp[5]), Number(stamp[6] ?? 0)] as const;
  const localMs = utcMs(stamp, clock);
  const offsetMs = offsetOf(stamp[8]);
  if (localMs === undefined || offsetMs === undefined) return undefined;
  const fraction = Number((stamp[7] ?? '').padEnd(6, '0').slice(0, 6));
  // An end bound without fraction includes its whole second, in line with 23:59:59 for days (rule 4).
  const within = bound === 'to' && stamp[7] === undefined ? 999_999 : fraction;
  return (localMs - offsetMs) * 1000 + within;
}

/** Returns undefined if a field is out of range, including February 30. */
function utcMs(
  date: RegExpExecArray,
  [hour, minute, second]: readonly [number, number, number],
): number | undefined {
  const [year, month, day] = [Number(date[1]), Number(date[2]), Number(date[3])];
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const ms = Date.UTC(year, month - 1, day, hour, minute, second);
  const back = new Date(ms);
  return back.getUTCMonth() === month - 1 && back.getUTCDate() === day ? ms : undefined;
}

function offsetOf(zone: string | undefined): number | undefined {
  if (zone === undefined || zone === 'Z' || zone === 'z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(-2));
  if (hours > 23 || minutes > 59) return undefined;
  const ms = (hours * 60 + minutes) * 60_000;
  return zone.startsWith('-') ? -ms : ms;
}
