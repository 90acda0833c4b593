/** `carillon store`: migrates a data folder to PostgreSQL and lists unreadable rows. */
import type { Command } from 'commander';
import { systemRandom } from '../../base/system-random.ts';
import { type PageFlags, withPages } from '../pages.ts';
import type { GlobalOptions, Session } from '../terminal.ts';

export function addStoreCopy(program: Command, sessionOf: (command: Command) => Session): void {
  const store = program
    .command('store')
    .description('Migrate the database and list unreadable rows');
  addUnreadable(store, sessionOf);
  store
    .command('copy')
    .description(
      'Copy the data folder into the empty PostgreSQL database of store.url and compare the two. Stop the service first.',
    )
    .option('--file <file>', 'settings file; default: CARILLON_CONFIG')
    .action(async (flags: { readonly file?: string }, command: Command) => {
      const session = sessionOf(command);
      const { examineHere } = await import('../examine.ts');
      const { settings } = examineHere(session.terminal.env, flags.file);
      const { url } = settings.store;
      if (url === '') throw new Error('store.url is not set: set CARILLON_STORE_URL');
      const { dataDir = settings.dataDir } = command.optsWithGlobals<GlobalOptions>();
      const { copyToPostgres } = await import('../../edge/store/postgres/copy.ts');
      const tables = copyToPostgres({ dataDir, url, random: systemRandom });
      const rows = tables.reduce((sum, table) => sum + table.rows, 0);
      const lines = [
        ...tables.filter((table) => table.rows > 0).map((table) => `${table.table}: ${table.rows}`),
        `${rows} rows of ${tables.length} tables copied and verified; every balance adds up`,
        'start the service with store.url; copy the keys folder to its other nodes',
      ];
      session.report({ ok: true, rows, tables }, lines);
    });
}

function addUnreadable(store: Command, sessionOf: (command: Command) => Session): void {
  withPages(store.command('unreadable'))
    .description('List unreadable rows of the database; exit status 1 if there are any')
    .option(
      '--forget <table/key>',
      'remove a row from the list; an open call is deleted from the database',
    )
    .action(async (flags: PageFlags & { readonly forget?: string }, command: Command) => {
      const session = sessionOf(command);
      const { client } = session;
      const { forget, ...query } = flags;
      if (forget !== undefined) {
        const [table = '', ...rest] = forget.split('/');
        const path = { table, key: rest.join('/') };
        await client.delete('/admin/v1/unreadable-rows/{table}/{key}', { path });
        return session.done(`${forget} is no longer listed`, { ok: true });
      }
      const reply = await client.get('/admin/v1/unreadable-rows', { query });
      session.list(reply, 'rows', [
        { title: 'FOUND', value: (row) => row['found'] },
        { title: 'TABLE', value: (row) => row['table'] },
        { title: 'KEY', value: (row) => row['key'] },
        { title: 'REASON', value: (row) => row['reason'] },
      ]);
      if (reply.total > 0) session.terminal.fail();
    });
}
