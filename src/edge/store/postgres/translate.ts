import type { Parameters } from '../connection.ts';
import type { SqlValue } from '../row.ts';

/** Repository SQL, translated to the numbered parameters of PostgreSQL. */
export interface Translated {
  readonly sql: string;
  /** Parameter names in the order of their numbers. Undefined if the SQL uses `?`. */
  readonly names: readonly string[] | undefined;
}

/** Matches `?` and `@name` outside of quotes. */
const PARAMETER = /'[^']*'|\?|@(\w+)/g;

export function translate(sql: string): Translated {
  const names: string[] = [];
  let count = 0;
  const numbered = sql.replace(PARAMETER, (found: string, name: string | undefined) => {
    if (found.startsWith("'")) return found;
    if (name === undefined) {
      count += 1;
      return `$${count}`;
    }
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return { sql: numbered, names: names.length === 0 ? undefined : names };
}

/** Returns the values in the order of their numbers. PostgreSQL text cannot contain NUL, which becomes U+FFFD. */
export function valuesOf({ names }: Translated, parameters: Parameters): readonly SqlValue[] {
  const values =
    names === undefined
      ? (parameters as readonly SqlValue[])
      : names.map((name) => (parameters as Readonly<Record<string, SqlValue>>)[name] ?? null);
  return values.some(hasNul) ? values.map(withoutNul) : values;
}

const hasNul = (value: SqlValue): boolean => typeof value === 'string' && value.includes('\0');

const withoutNul = (value: SqlValue): SqlValue =>
  typeof value === 'string' ? value.replaceAll('\0', '\u{fffd}') : value;
