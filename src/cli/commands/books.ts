/** What accounting wants: call records and ledgers as files, usage, invoices. */
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import type { Json } from '../client.ts';
import type { Session } from '../terminal.ts';

type SessionOf = (command: Command) => Session;

const accountPath = (authId: string): string => `/accounts/${encodeURIComponent(authId)}`;

export function addBookCommands(program: Command, sessionOf: SessionOf): void {
  addExport(program, sessionOf);
  program
    .command('usage')
    .description('calls, minutes and amounts of an account by day or month')
    .argument('<auth_id>')
    .option('--from <date>', 'from this day on (UTC); default: 31 days')
    .option('--to <date>', 'up to and with it')
    .option('--by <period>', 'day or month', 'day')
    .action(async (authId: string, flags: Record<string, string>, command: Command) => {
      const session = sessionOf(command);
      const { from, to, by } = flags;
      const query = { from_date: from, to_date: to, by };
      const reply = await session.client.get(`${accountPath(authId)}/usage`, query);
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
    .description('invoice of a month, from the ledger')
    .argument('<auth_id>')
    .argument('<month>', 'YYYY-MM (UTC)')
    .option('--currency <code>', "default: the account's")
    .option('--pdf <file>', 'write it as PDF')
    .action(
      async (
        authId: string,
        month: string,
        flags: { currency?: string; pdf?: string },
        command: Command,
      ) => {
        const session = sessionOf(command);
        const path = `${accountPath(authId)}/invoices/${encodeURIComponent(month)}`;
        const query = { currency: flags.currency };
        if (flags.pdf !== undefined) {
          const reply = await session.client.stream(`${path}/pdf`, query);
          await save(reply, flags.pdf);
          return session.done(`invoice written: ${flags.pdf}`, { file: flags.pdf });
        }
        const reply = await session.client.get(path, query);
        const lines = (key: string): readonly string[] =>
          ((reply[key] ?? []) as Json[]).map(
            (line) => `${line['description']}: ${line['amount']} (${line['count']})`,
          );
        session.one(reply, { ...reply, charges: lines('charges'), credits: lines('credits') });
      },
    );
}

const minutes = (seconds: unknown): string => (Number(seconds) / 60).toFixed(1);

/** `12.5 USD, 3 EUR`. */
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

function addExport(program: Command, sessionOf: SessionOf): void {
  const group = program.command('export').description('call records and ledgers as files');
  const common = (command: Command): Command =>
    command
      .argument('<auth_id>')
      .option('--format <format>', 'csv or ndjson', 'csv')
      .option('--out <file>', 'where it goes; default: standard output')
      .option('--from <date>', 'from this day or time on (UTC)')
      .option('--to <date>', 'up to and with it');
  common(group.command('cdrs').description('call records of an account, latest first'))
    .option('--direction <direction>', 'inbound or outbound')
    .action(async (authId: string, flags: ExportFlags, command: Command) =>
      copy(sessionOf(command), `${accountPath(authId)}/cdr/export`, flags, {
        start_date: flags.from,
        end_date: flags.to,
        call_direction: flags.direction,
      }),
    );
  common(group.command('ledger').description('ledger entries of an account, newest first'))
    .option('--type <type>', 'credit, debit …')
    .option('--currency <code>', 'of one balance')
    .action(async (authId: string, flags: ExportFlags, command: Command) =>
      copy(sessionOf(command), `${accountPath(authId)}/transactions/export`, flags, {
        from_date: flags.from,
        to_date: flags.to,
        type: flags.type,
        currency: flags.currency,
      }),
    );
}

async function copy(
  session: Session,
  path: string,
  { format, out }: ExportFlags,
  filter: Json,
): Promise<void> {
  const reply = await session.client.stream(path, { ...filter, format });
  const total = Number(reply.headers.get('x-total-count')) + (format === 'csv' ? 1 : 0);
  let lines = 0;
  const counted = async function* (parts: AsyncIterable<Uint8Array>) {
    for await (const part of parts) {
      for (const byte of part) if (byte === 10) lines += 1;
      yield part;
    }
  };
  if (out === undefined) return print(session, reply);
  const work = save(reply, out, counted);
  await session.working('exporting', work, async () => (total === 0 ? undefined : lines / total));
  const rows = lines - (format === 'csv' ? 1 : 0);
  session.done(`${rows} rows written: ${out}`, { file: out, rows });
}

async function print(session: Session, reply: Response): Promise<void> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const part of bodyOf(reply)) {
    const lines = (rest + decoder.decode(part, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) session.terminal.print(line.replace(/\r$/, ''));
  }
}

/** The file appears when it is complete: one that was cut off is not taken for a whole one. */
async function save(
  reply: Response,
  file: string,
  through = async function* (parts: AsyncIterable<Uint8Array>) {
    yield* parts;
  },
): Promise<void> {
  const part = `${file}.part`;
  try {
    await pipeline(Readable.from(through(bodyOf(reply))), createWriteStream(part, { mode: 0o600 }));
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

const bodyOf = (reply: Response): AsyncIterable<Uint8Array> =>
  (reply.body ?? []) as unknown as AsyncIterable<Uint8Array>;
