import { replaceCredentials } from '../../base/mask.ts';
import type { SqlValue } from './connection.ts';
import type { Column } from './table.ts';
import type { Vault } from './vault.ts';

/** Marks a sealed password. A password of a customer that begins with it is sealed like any other. */
const SEALED = 'vault.';

/** Bound to the host: whoever can write to the file cannot have a credential sent to another host. */
const purposeOf = (host: string): string => `url:${host}`;

/** Text as it is stored: the credentials of every URL in it encrypted. */
export function sealCredentials(text: string, vault: Vault): string {
  const sealed = replaceCredentials(
    text,
    (secret, host) =>
      SEALED + Buffer.from(vault.seal(secret, purposeOf(host))).toString('base64url'),
  );
  // A password that could not be read back (one that is too long for the pattern) is stored as it is.
  return sealed === text || openCredentials(sealed, vault) === text ? sealed : text;
}

export const openCredentials = (text: string, vault: Vault): string =>
  replaceCredentials(text, (secret, host) =>
    secret.startsWith(SEALED)
      ? vault.open(Buffer.from(secret.slice(SEALED.length), 'base64url'), purposeOf(host))
      : secret,
  );

/** A column of text, or of JSON, that may hold URLs of a customer. */
export const withCredentials = <T>(column: Column<T>): Column<T> => ({
  name: column.name,
  write: (value, vault) => {
    const written = column.write(value, vault);
    return typeof written === 'string' ? sealCredentials(written, vault) : written;
  },
  read: (value: SqlValue, vault) =>
    column.read(typeof value === 'string' ? openCredentials(value, vault) : value, vault),
});
