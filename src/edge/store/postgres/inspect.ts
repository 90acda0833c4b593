import { systemRandom } from '../../../base/system-random.ts';
import { toError, toFailure } from '../failure.ts';
import { ephemeralKey, Vault } from '../vault.ts';
import { PostgresConnection } from './connection.ts';

export interface PostgresFacts {
  /** Version of the server, such as `15.18`. */
  readonly version: string;
  /** Whether the server stores and verifies checksums of its pages (`data_checksums`). */
  readonly hasChecksums: boolean;
}

/** Returns facts about the PostgreSQL server. Throws if the server cannot be reached or used. */
export function inspectPostgres(url: string): PostgresFacts {
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
          current_setting('data_checksums') AS checksums,
          has_database_privilege(current_database(), 'CREATE') AS owns`,
    );
    if (row?.['owns'] !== 1) throw new Error('this user may not create tables in that database');
    return { version: String(row['version']), hasChecksums: row['checksums'] === 'on' };
  } catch (error) {
    throw toError(toFailure(error));
  } finally {
    db.close();
  }
}
