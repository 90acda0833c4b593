/** Formats output as tables for people or JSON for programs. */

/** Reply of the service. */
export type Json = Readonly<Record<string, unknown>>;

export interface Column<T> {
  readonly title: string;
  readonly value: (row: T) => unknown;
  readonly align?: 'right';
}

const shown = (value: unknown): string => {
  if (value === null || value === undefined || value === '') return '-';
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(shown).join(',');
  if (typeof value === 'object') return JSON.stringify(value);
  // Values can contain text from callers and peers: remove terminal control characters.
  return String(value).replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '?');
};

export function table<T>(rows: readonly T[], columns: readonly Column<T>[]): readonly string[] {
  if (rows.length === 0) return ['(none)'];
  const cells = rows.map((row) => columns.map(({ value }) => shown(value(row))));
  const widths = columns.map(({ title }, at) =>
    Math.max(title.length, ...cells.map((line) => line[at]?.length ?? 0)),
  );
  const line = (parts: readonly string[]): string =>
    parts
      .map((part, at) =>
        columns[at]?.align === 'right'
          ? part.padStart(widths[at] ?? 0)
          : part.padEnd(widths[at] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [line(columns.map(({ title }) => title)), ...cells.map(line)];
}

/** Formats one object with a line per member. */
export function card(thing: Readonly<Record<string, unknown>>): readonly string[] {
  const entries = Object.entries(thing);
  const width = Math.max(0, ...entries.map(([name]) => name.length));
  return entries.map(([name, value]) => `${name.padEnd(width)}  ${shown(value)}`);
}

const BAR_WIDTH = 30;

/** `[#########---------------------]  30 %`. Shows at most 99 %, because data may still be in transit. */
export function progressBar(share: number): string {
  const done = Math.min(0.99, Math.max(0, share));
  const filled = Math.floor(done * BAR_WIDTH);
  const percent = String(Math.floor(done * 100)).padStart(3);
  return `[${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}] ${percent} %`;
}

/** Passes command-line values as request fields; the service validates them. */
export const unchecked = (fields: object): never => fields as never;
