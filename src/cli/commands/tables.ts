/** Commands that import and export CSV tables: rates, caller IDs and ledgers. */
import type { Command } from 'commander';
import type { Input } from '../../../packages/client/src/client.ts';
import { type CsvCell, csvLine } from '../../base/csv.ts';
import { RATE_COLUMNS } from '../../edge/rest/wire/import-columns.ts';
import { type CsvRow, readCsv } from '../csv.ts';
import { numberOf } from '../fields.ts';
import { type Json, unchecked } from '../output.ts';
import type { Session } from '../terminal.ts';
import { readLines } from '../transfer.ts';

type SessionOf = (command: Command) => Session;
type NewRate = Input<'POST', '/admin/v1/rates'>['body'];

const CALLER_IDS = '/admin/v1/accounts/{auth_id}/caller-ids';
const ENTRIES = '/admin/v1/accounts/{auth_id}/transactions';

export function addTableCommands(program: Command, sessionOf: SessionOf): void {
  const rates = program.commands.find((command) => command.name() === 'rates');
  if (rates !== undefined) addRateTables(rates, sessionOf);
  addCallerIdCommands(program, sessionOf);
  addLedgerCommands(program, sessionOf);
}

const printCsv = (session: Session, columns: readonly string[], rows: readonly Json[]): void => {
  const lines = rows.map((row) => columns.map((column) => row[column] as CsvCell));
  for (const line of [columns, ...lines]) {
    session.terminal.print(csvLine(line).trimEnd());
  }
};

/** Sends one request per row. Stops at the first refused row and reports its line. */
async function eachRow<T>(
  file: string,
  rows: readonly { readonly line: number; readonly cells: T }[],
  send: (cells: T) => Promise<unknown>,
): Promise<number> {
  let done = 0;
  for (const { line, cells } of rows) {
    try {
      await send(cells);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`${file} line ${line}: ${why}; ${done} rows before it were applied`);
    }
    done += 1;
  }
  return done;
}

/** Converts a CSV row to a rate. Checks numbers before the first request is sent. */
function rateOf({ line, cells }: CsvRow): NewRate {
  const number = (name: string): number => numberOf(`line ${line}: ${name}`, cells[name] ?? '');
  return unchecked({
    direction: cells['direction'],
    prefix: cells['prefix'] ?? '',
    per_minute: number('per_minute'),
    currency: cells['currency'],
    ...(cells['pulse_seconds'] && { pulse_seconds: number('pulse_seconds') }),
    ...(cells['account_id'] && { account_id: cells['account_id'] }),
  });
}

function addRateTables(rates: Command, sessionOf: SessionOf): void {
  rates
    .command('export')
    .description('Export current rates as CSV')
    .action(async (_: object, command: Command) => {
      const session = sessionOf(command);
      const reply = await session.client.get('/admin/v1/rates');
      printCsv(session, RATE_COLUMNS, reply.rates);
    });
  rates
    .command('import')
    .description('Set the rates of a CSV file in the format of export. Other rates stay unchanged.')
    .argument('<file>')
    .action(async (file: string, _: object, command: Command) => {
      const session = sessionOf(command);
      const rows = readCsv(file, RATE_COLUMNS);
      const rates = rows.map((row) => ({ line: row.line, cells: rateOf(row) }));
      const done = await eachRow(file, rates, (body) =>
        session.client.post('/admin/v1/rates', { body }),
      );
      session.done(`${done} rates set`, { rates: done });
    });
  rates
    .command('remove')
    .description('Remove a rate')
    .argument('<direction>')
    .option('--prefix <digits>', 'prefix of the rate', '')
    .option('--currency <code>', 'currency', 'USD')
    .option('--account <auth_id>', 'account of the rate')
    .action(async (direction: string, flags: Record<string, string>, command: Command) => {
      const session = sessionOf(command);
      const { account, ...rest } = flags;
      await session.client.delete('/admin/v1/rates', {
        query: unchecked({ direction, ...rest, account_id: account }),
      });
      session.done(`rate removed: ${direction} ${flags['prefix'] || '(any)'}`);
    });
}

function addCallerIdCommands(program: Command, sessionOf: SessionOf): void {
  const callerIds = program
    .command('callerids')
    .description('Manage verified caller IDs of an account');
  callerIds
    .command('list')
    .description('List verified caller IDs')
    .argument('<auth_id>')
    .option('--csv', 'print CSV')
    .action(async (authId: string, flags: { csv?: boolean }, command: Command) => {
      const session = sessionOf(command);
      const reply = await session.client.get(CALLER_IDS, { path: { auth_id: authId } });
      if (flags.csv) return printCsv(session, ['number'], reply.caller_ids);
      session.list(reply, 'caller_ids', [{ title: 'NUMBER', value: (row) => row['number'] }]);
    });
  callerIds
    .command('add')
    .description('Add a verified caller ID')
    .argument('<auth_id>')
    .argument('<number>')
    .action(async (authId: string, number: string, _: object, command: Command) => {
      const session = sessionOf(command);
      const added = await session.client.post(CALLER_IDS, {
        path: { auth_id: authId },
        body: unchecked({ number }),
      });
      session.done(`caller ID ${added.number} added`, added);
    });
  callerIds
    .command('remove')
    .description('Remove a verified caller ID')
    .argument('<auth_id>')
    .argument('<number>')
    .action(async (authId: string, number: string, _: object, command: Command) => {
      const session = sessionOf(command);
      await session.client.delete(`${CALLER_IDS}/{number}`, {
        path: { auth_id: authId, number },
      });
      session.done(`caller ID ${number} removed`);
    });
  callerIds
    .command('import')
    .description('Add the numbers in the `number` column of a CSV file')
    .argument('<auth_id>')
    .argument('<file>')
    .action(async (authId: string, file: string, _: object, command: Command) => {
      const session = sessionOf(command);
      const done = await eachRow(file, readCsv(file, ['number']), ({ number }) =>
        session.client.post(CALLER_IDS, {
          path: { auth_id: authId },
          body: unchecked({ number }),
        }),
      );
      session.done(`${done} caller IDs added`, { caller_ids: done });
    });
}

function addLedgerCommands(program: Command, sessionOf: SessionOf): void {
  program
    .command('ledger')
    .description('List the ledger entries of an account, newest first')
    .argument('<auth_id>')
    .option('--from <date>', 'first day or time (UTC)')
    .option('--to <date>', 'last day or time (UTC), inclusive')
    .option('--type <type>', 'credit, debit …')
    .option('--currency <code>', 'only entries of this currency')
    .option('--limit <n>', 'maximum number of rows; ignored with --csv', '50')
    .option('--csv', 'print all entries as CSV')
    .action(async (authId: string, flags: Record<string, string | true>, command: Command) => {
      const session = sessionOf(command);
      const filter = {
        from_date: flags['from'],
        to_date: flags['to'],
        type: flags['type'],
        currency: flags['currency'],
      };
      if (flags['csv'] === true) return printEntries(session, authId, filter);
      const reply = await session.client.get(ENTRIES, {
        path: { auth_id: authId },
        query: unchecked({ ...filter, per_page: flags['limit'] }),
      });
      session.list(reply, 'transactions', [
        { title: 'TIME', value: (row) => row['created_at'] },
        { title: 'TYPE', value: (row) => row['type'] },
        { title: 'AMOUNT', value: (row) => row['amount'], align: 'right' },
        { title: 'CURRENCY', value: (row) => row['currency'] },
        { title: 'SOURCE', value: (row) => row['reference_type'] },
        { title: 'DESCRIPTION', value: (row) => row['description'] },
      ]);
    });
}

/** Prints the export, because entries posted between pages of the list would shift the pages. */
async function printEntries(session: Session, authId: string, filter: Json): Promise<void> {
  const reply = await session.client.file(`${ENTRIES}/export`, {
    path: { auth_id: authId },
    query: unchecked({ ...filter, format: 'csv' }),
  });
  await readLines(reply, (line) => session.terminal.print(line));
}
