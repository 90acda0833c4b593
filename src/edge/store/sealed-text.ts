import { replaceCredentials } from '../../base/mask.ts';
import type { SqlValue } from './connection.ts';
import type { Column } from './table.ts';
import type { Vault } from './vault.ts';

/** Stands where a password stood. Whatever a customer writes there is sealed, this word included: it is only ever ours. */
const SEALED = 'vault.';

/** Bound to the host: a credential cannot be made to be sent to another by who can write to the file. */
const purposeOf = (host: string): string => `url:${host}`;

/** Text as it is stored: the credentials of every URL in it encrypted. */
export function sealCredentials(text: string, vault: Vault): string {
  const sealed = replaceCredentials(
    text,
    (secret, host) =>
      SEALED + Buffer.from(vault.seal(secret, purposeOf(host))).toString('base64url'),
  );
  // What could not be read back (a password of absurd length) is better kept as it is than lost.
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
