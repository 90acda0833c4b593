/** `carillon import`: creates objects from the rows of a CSV file. Reports every row and supports a dry run. */

import type { Command } from 'commander';
import { quantity } from '../../base/text.ts';
import {
  ACCOUNT_COLUMNS,
  NUMBER_COLUMNS,
  RATE_COLUMNS,
} from '../../edge/rest/wire/import-columns.ts';
import { readCsv } from '../csv.ts';
import type { Json } from '../output.ts';
import { sentenceOf } from '../refusal.ts';
import type { Session } from '../terminal.ts';

const ROWS_AT_A_TIME = 500;

const KINDS = {
  rates: {
    about:
      'Import rates. A row replaces the rate with the same direction, prefix, currency and account.',
    columns: RATE_COLUMNS,
  },
  numbers: {
    about: 'Import numbers into the inventory or into an account',
    columns: NUMBER_COLUMNS,
  },
  accounts: {
    about: 'Import accounts. The report contains their IDs and tokens, which are not shown again.',
    columns: ACCOUNT_COLUMNS,
  },
} as const;

export function addImportCommands(
  program: Command,
  sessionOf: (command: Command) => Session,
): void {
  const group = program
    .command('import')
    .description('Import the rows of a CSV file. Invalid rows are reported and skipped.');
  for (const [kind, { about, columns }] of Object.entries(KINDS)) {
    group
      .command(kind)
      .description(about)
      .argument('<file>', `CSV with columns ${columns.join(', ')}`)
      .option('--dry-run', 'check every row and write nothing')
      .action(async (file: string, flags: { dryRun?: boolean }, command: Command) => {
        const session = sessionOf(command);
        const dryRun = flags.dryRun === true;
        const report: Json[] = [];
        try {
          await send(session, { kind, rows: readCsv(file, columns), dryRun }, report);
        } catch (error) {
          // The tokens of the accounts created so far are not shown again.
          if (report.length > 0) show(session, report, dryRun);
          throw error;
        }
        show(session, report, dryRun);
      });
  }
}

type CsvRows = ReturnType<typeof readCsv>;

interface Importing {
  readonly kind: string;
  readonly rows: CsvRows;
  readonly dryRun: boolean;
}

/** Sends the rows in batches and appends the result of each row to `report`. */
async function send(
  session: Session,
  { kind, rows, dryRun }: Importing,
  report: Json[],
): Promise<void> {
  const { client } = session;
  const repeats = new RepeatedRates();
  const work = async (): Promise<void> => {
    for (let at = 0; at < rows.length; at += ROWS_AT_A_TIME) {
      const part = rows.slice(at, at + ROWS_AT_A_TIME);
      const fresh = kind === 'rates' ? part.filter((row) => !repeats.refuses(row, report)) : part;
      const batch = fresh.map(({ line, cells }) => ({
        line,
        // An empty cell keeps the default.
        cells: Object.fromEntries(Object.entries(cells).filter(([, cell]) => cell.trim() !== '')),
      }));
      if (batch.length === 0) continue;
      const request = { path: { kind }, body: { dry_run: dryRun, rows: batch } };
      const reply = await client.post('/admin/v1/import/{kind}', request).catch((error) => {
        throw unconfirmed(error, fresh);
      });
      report.push(...reply.rows);
      repeats.accept(fresh, reply.rows);
    }
  };
  await session.working('importing', work(), async () => report.length / Math.max(1, rows.length));
}

/** Describes which lines of the file the service has not confirmed. */
function unconfirmed(cause: unknown, rows: CsvRows): Error {
  const [first, last] = [rows[0]?.line, rows.at(-1)?.line];
  const lines = `lines ${first} to ${last} are not confirmed, later lines were not sent`;
  return new Error(`${sentenceOf(cause)}; ${lines}`, { cause });
}

/** Detects repeated rates across the batches of one file. The service detects them only within one batch. */
class RepeatedRates {
  readonly #lines = new Map<string, number>();

  /** Returns true and appends to `report` if an earlier batch has set the same rate. */
  refuses(row: CsvRows[number], report: Json[]): boolean {
    const first = this.#lines.get(rateKey(row));
    if (first === undefined) return false;
    report.push({ line: row.line, ok: false, result: `the same rate as line ${first}` });
    return true;
  }

  accept(sent: CsvRows, answered: readonly Json[]): void {
    const accepted = new Set(
      answered.filter((one) => one['ok'] === true).map((one) => one['line']),
    );
    for (const row of sent) if (accepted.has(row.line)) this.#lines.set(rateKey(row), row.line);
  }
}

const rateKey = ({ cells }: CsvRows[number]): string => {
  const of = (name: string): string => (cells[name] ?? '').trim();
  const currency = of('currency').toUpperCase();
  return JSON.stringify([of('direction'), of('prefix'), currency, of('account_id')]);
};

function show(session: Session, report: readonly Json[], dryRun: boolean): void {
  const rows = report.toSorted((a, b) => Number(a['line']) - Number(b['line']));
  const refused = rows.filter((row) => row['ok'] !== true);
  const done = rows.length - refused.length;
  const summary = `${quantity(done, 'row')} ${dryRun ? 'would be imported' : 'imported'}, ${refused.length} refused`;
  const lines = rows
    .filter((row) => row['ok'] !== true || row['auth_token'] !== undefined)
    .map((row) => {
      const token = row['auth_token'] === undefined ? '' : ` ${row['auth_token']}`;
      return `line ${row['line']}: ${row['result']}${token}`;
    });
  session.report({ dry_run: dryRun, done, refused: refused.length, rows }, [...lines, summary]);
  if (refused.length > 0) session.terminal.fail();
}
