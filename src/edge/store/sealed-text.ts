import { replaceCredentials } from '../../base/mask.ts';
import type { SqlValue } from './connection.ts';
import type { Column } from './table.ts';
import type { Vault } from './vault.ts';

/** Prefix of a sealed password. A customer's password that begins with it is sealed like any other. */
const SEALED = 'vault.';

/** Binds the credential to its host: someone with write access to the file cannot redirect it to another host. */
const purposeOf = (host: string): string => `url:${host}`;

/** Returns the text to store, with the credentials of every URL in it encrypted. */
export function sealCredentials(text: string, vault: Vault): string {
  const sealed = replaceCredentials(
    text,
    (secret, host) =>
      SEALED + Buffer.from(vault.seal(secret, purposeOf(host))).toString('base64url'),
  );
  // A password that could not be read back (too long for the pattern) is stored unchanged.
  return sealed === text || openCredentials(sealed, vault) === text ? sealed : text;
}

export const openCredentials = (text: string, vault: Vault): string =>
  replaceCredentials(text, (secret, host) =>
    secret.startsWith(SEALED)
      ? vault.open(Buffer.from(secret.slice(SEALED.length), 'base64url'), purposeOf(host))
      : secret,
  );

/** Wraps a column of text or JSON that may contain customer URLs with credentials. */
export const withCredentials = <T>(column: Column<T>): Column<T> => ({
  name: column.name,
  write: (value, vault) => {
    const written = column.write(value, vault);
    return typeof written === 'string' ? sealCredentials(written, vault) : written;
  },
  read: (value: SqlValue, vault) =>
    column.read(typeof value === 'string' ? openCredentials(value, vault) : value, vault),
});
