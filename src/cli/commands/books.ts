/** Commands for accounting: exports of call records and ledgers, usage and invoices. */

import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { quantity } from '../../base/text.ts';
import { type Json, unchecked } from '../output.ts';
import type { Session } from '../terminal.ts';
import { bodyOf, readLines } from '../transfer.ts';

type SessionOf = (command: Command) => Session;

const INVOICE = '/admin/v1/accounts/{auth_id}/invoices/{month}';

export function addBookCommands(program: Command, sessionOf: SessionOf): void {
  addExport(program, sessionOf);
  program
    .command('usage')
    .description('Show calls, minutes and charges of an account by day or month')
    .argument('<auth_id>')
    .option('--from <date>', 'first day (UTC); default: 31 days ago')
    .option('--to <date>', 'last day (UTC), inclusive')
    .option('--by <period>', 'length of a row: day or month', 'day')
    .action(async (authId: string, flags: Record<string, string>, command: Command) => {
      const session = sessionOf(command);
      const { from, to, by } = flags;
      const reply = await session.client.get('/admin/v1/accounts/{auth_id}/usage', {
        path: { auth_id: authId },
        query: unchecked({ from_date: from, to_date: to, by }),
      });
      session.list(reply, 'usage', [
        { title: 'PERIOD', value: (row) => row['period'] },
        { title: 'CALLS', value: (row) => row['calls'], align: 'right' },
        { title: 'ANSWERED', value: (row) => row['answered'], align: 'right' },
        { title: 'MINUTES', value: (row) => minutes(row['billed_seconds']), align: 'right' },
        { title: 'CHARGED', value: charged },
      ]);
    });
  program
    .command('invoice')
    .description('Show the invoice of a month')
    .argument('<auth_id>')
    .argument('<month>', 'YYYY-MM (UTC)')
    .option('--currency <code>', "default: the account's")
    .option('--pdf <file>', 'write the invoice to this PDF file')
    .action(
      async (
        authId: string,
        month: string,
        flags: { currency?: string; pdf?: string },
        command: Command,
      ) => {
        const session = sessionOf(command);
        const input = { path: { auth_id: authId, month }, query: { currency: flags.currency } };
        if (flags.pdf !== undefined) {
          const reply = await session.client.file(`${INVOICE}/pdf`, input);
          await save(reply, flags.pdf);
          return session.done(`invoice written: ${flags.pdf}`, { file: flags.pdf });
        }
        const reply = await session.client.get(INVOICE, input);
        const linesOf = (entries: typeof reply.charges): readonly string[] =>
          entries.map(({ description, amount, count }) => `${description}: ${amount} (${count})`);
        const { charges, credits } = reply;
        session.one(reply, { ...reply, charges: linesOf(charges), credits: linesOf(credits) });
      },
    );
}

const minutes = (seconds: unknown): string => (Number(seconds) / 60).toFixed(1);

/** Formats charges per currency, for example `12.5 USD, 3 EUR`. */
function charged(row: Json): string {
  const sums = new Map<string, number>();
  for (const { currency, charged: amount } of (row['amounts'] ?? []) as Json[])
    sums.set(String(currency), (sums.get(String(currency)) ?? 0) + Number(amount));
  const shown = [...sums].filter(([, sum]) => sum > 0);
  return shown.map(([currency, sum]) => `${Number(sum.toFixed(6))} ${currency}`).join(', ');
}

interface ExportFlags {
  readonly format: string;
  readonly out?: string;
  readonly from?: string;
  readonly to?: string;
  readonly direction?: string;
  readonly type?: string;
  readonly currency?: string;
}

/** Bytes of CSV. */
const LINE_FEED = 10;
const QUOTE = 34;

const CDRS = '/admin/v1/accounts/{auth_id}/cdr/export';
const ENTRIES = '/admin/v1/accounts/{auth_id}/transactions/export';

function addExport(program: Command, sessionOf: SessionOf): void {
  const group = program.command('export').description('Export call records and ledgers');
  const common = (command: Command): Command =>
    command
      .argument('<auth_id>')
      .option('--format <format>', 'csv or ndjson', 'csv')
      .option('--out <file>', 'output file; default: standard output')
      .option('--from <date>', 'first day or time (UTC)')
      .option('--to <date>', 'last day or time (UTC), inclusive');
  common(group.command('cdrs').description('Export the call records of an account, newest first'))
    .option('--direction <direction>', 'inbound or outbound')
    .action(async (authId: string, flags: ExportFlags, command: Command) =>
      copy(sessionOf(command), CDRS, authId, flags, {
        start_date: flags.from,
        end_date: flags.to,
        call_direction: flags.direction,
      }),
    );
  common(
    group.command('ledger').description('Export the ledger entries of an account, newest first'),
  )
    .option('--type <type>', 'credit, debit …')
    .option('--currency <code>', 'only entries of this currency')
    .action(async (authId: string, flags: ExportFlags, command: Command) =>
      copy(sessionOf(command), ENTRIES, authId, flags, {
        from_date: flags.from,
        to_date: flags.to,
        type: flags.type,
        currency: flags.currency,
      }),
    );
}

async function copy(
  session: Session,
  from: typeof CDRS | typeof ENTRIES,
  authId: string,
  { format, out }: ExportFlags,
  filter: Json,
): Promise<void> {
  const reply = await session.client.file(from, {
    path: { auth_id: authId },
    query: unchecked({ ...filter, format }),
  });
  const total = Number(reply.headers.get('x-total-count')) + (format === 'csv' ? 1 : 0);
  let lines = 0;
  let isQuoted = false;
  const counted = async function* (parts: AsyncIterable<Uint8Array>) {
    for await (const part of parts) {
      for (const byte of part) {
        if (byte === QUOTE && format === 'csv') isQuoted = !isQuoted;
        // A line feed between quotes is part of a cell.
        if (byte === LINE_FEED && !isQuoted) lines += 1;
      }
      yield part;
    }
  };
  if (out === undefined) return readLines(reply, (line) => session.terminal.print(line));
  const work = save(reply, out, counted);
  await session.working('exporting', work, async () => (total === 0 ? undefined : lines / total));
  const rows = lines - (format === 'csv' ? 1 : 0);
  session.done(`${quantity(rows, 'row')} written: ${out}`, { file: out, rows });
}

/** Writes to a temporary file and renames it when complete, so that `file` never holds a partial export. */
async function save(
  reply: Response,
  file: string,
  through = async function* (parts: AsyncIterable<Uint8Array>) {
    yield* parts;
  },
): Promise<void> {
  // Another command may write the same file at the same time.
  const part = `${file}.${randomUUID()}.part`;
  try {
    await pipeline(Readable.from(through(bodyOf(reply))), createWriteStream(part, { mode: 0o600 }));
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}
