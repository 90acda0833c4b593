/** `carillon store copy`: a data folder moves to PostgreSQL. */
import type { Command } from 'commander';
import { systemRandom } from '../../base/system-random.ts';
import type { GlobalOptions, Session } from '../terminal.ts';

export function addStoreCopy(program: Command, sessionOf: (command: Command) => Session): void {
  program
    .command('store')
    .description('the database')
    .command('copy')
    .description(
      'copy the data folder of a service that does not run into the empty PostgreSQL database of store.url, and compare the two',
    )
    .option('--file <file>', 'settings file; default: CARILLON_CONFIG')
    .action(async (flags: { readonly file?: string }, command: Command) => {
      const session = sessionOf(command);
      const { examineHere } = await import('../examine.ts');
      const { settings } = examineHere(session.terminal.env, flags.file);
      const { url } = settings.store;
      if (url === '') throw new Error('store.url names no database: set CARILLON_STORE_URL');
      const { dataDir = settings.dataDir } = command.optsWithGlobals<GlobalOptions>();
      const { copyToPostgres } = await import('../../edge/store/postgres/copy.ts');
      const tables = copyToPostgres({ dataDir, url, random: systemRandom });
      const rows = tables.reduce((sum, table) => sum + table.rows, 0);
      const lines = [
        ...tables.filter((table) => table.rows > 0).map((table) => `${table.table}: ${table.rows}`),
        `${rows} rows of ${tables.length} tables are copied and equal; every balance adds up`,
        'start the service with store.url; give its other nodes the same keys folder',
      ];
      session.report({ ok: true, rows, tables }, lines);
    });
}
