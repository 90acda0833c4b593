/** Converts a statement about one row to a statement about many rows, so that the fixed cost of a statement is paid once. */

/** Matches `INSERT INTO t (…) VALUES (?, ?, …)`, optionally with ON CONFLICT. */
const INSERT = /^(INSERT INTO [^(]+\([^)]+\)\s+VALUES )(\(\?(?:, \?)*\))([^?]*)$/;
/** Matches `DELETE FROM t WHERE key = ?`. */
const DELETE = /^(DELETE FROM \w+ WHERE \w+) = \?$/;
/** Matches `UPDATE t SET a = ?, b = ? WHERE key = ?`. The columns must hold integers. */
const UPDATE = /^UPDATE (\w+) SET (\w+ = \?(?:, \w+ = \?)*)\s+WHERE (\w+) = \?$/;

/** Returns a function that builds the statement for `count` rows, or undefined if it cannot be combined. */
export function manyRows(sql: string): ((count: number) => string) | undefined {
  const [, into, values, rest] = INSERT.exec(sql) ?? [];
  if (values !== undefined) return (count) => `${into}${repeated(values, count)}${rest}`;
  const [, where] = DELETE.exec(sql) ?? [];
  if (where !== undefined) return (count) => `${where} IN (${repeated('?', count)})`;
  const [, table, sets, key] = UPDATE.exec(sql) ?? [];
  if (table === undefined || sets === undefined || key === undefined) return undefined;
  const names = sets.split(', ').map((set) => set.replace(' = ?', ''));
  const row = `(${names.map(() => 'CAST(? AS BIGINT)').join(', ')}, ?)`;
  const changes = names.map((name) => `${name} = given.${name}`).join(', ');
  const columns = [...names, key].join(', ');
  return (count) =>
    `UPDATE ${table} SET ${changes} FROM (VALUES ${repeated(row, count)}) AS given (${columns})
      WHERE ${table}.${key} = given.${key}`;
}

const repeated = (text: string, count: number): string => Array(count).fill(text).join(', ');
