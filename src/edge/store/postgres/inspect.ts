import { systemRandom } from '../../../base/system-random.ts';
import { toError, toFailure } from '../failure.ts';
import { ephemeralKey, Vault } from '../vault.ts';
import { PostgresConnection } from './connection.ts';

/** Returns the version of the PostgreSQL server, such as `15.18`. Throws if the server cannot be reached or used. */
export function inspectPostgres(url: string): string {
  const db = new PostgresConnection({
    url,
    readonly: true,
    timeoutMs: 5000,
    vault: new Vault(ephemeralKey()),
    random: systemRandom,
  });
  try {
    const row = db.get(
      `SELECT current_setting('server_version') AS version,
          has_database_privilege(current_database(), 'CREATE') AS owns`,
    );
    if (row?.['owns'] !== 1) throw new Error('this user may not create tables in that database');
    return String(row['version']);
  } catch (error) {
    throw toError(toFailure(error));
  } finally {
    db.close();
  }
}
