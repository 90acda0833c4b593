/** `carillon privacy`: finds, exports and erases the records of one telephone number. */
import { randomUUID } from 'node:crypto';
import { createWriteStream, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { type FoundService, findService } from '../connection.ts';
import type { Json } from '../output.ts';
import type { GlobalOptions, Session } from '../terminal.ts';
import { linesOf } from '../transfer.ts';

type SessionOf = (command: Command) => Session;

const ROOT = '/admin/v1/personal-data';
/** Personal data is readable by its owner only. */
const PRIVATE = { mode: 0o600 };

const NUMBER = 'number with + or 00, digits only, or a sip: or tel: URI; separators are ignored';
const COUNTRY = 'country of a number without country code, for example DE';

interface Flags {
  readonly country?: string;
}

const queryOf = (number: string, { country }: Flags) => ({
  number,
  ...(country === undefined ? {} : { country }),
});

export function addPrivacyCommands(program: Command, sessionOf: SessionOf): void {
  const privacy = program
    .command('privacy')
    .description('Find, export and erase the records of a telephone number in all accounts');
  privacy
    .command('find')
    .description('Count the records that contain a number')
    .argument('<number>', NUMBER)
    .option('--country <code>', COUNTRY)
    .action(async (number: string, flags: Flags, command: Command) => {
      const session = sessionOf(command);
      session.one(
        await session.working(
          'searching',
          session.client.get(ROOT, { query: queryOf(number, flags) }),
        ),
      );
    });
  privacy
    .command('export')
    .description('Write the records of a number to a folder: records.ndjson and its recordings')
    .argument('<number>', NUMBER)
    .option('--country <code>', COUNTRY)
    .option('--out <folder>', 'folder', 'personal-data')
    .action(async (number: string, flags: Flags & { out: string }, command: Command) => {
      const session = sessionOf(command);
      const service = findService(command.optsWithGlobals<GlobalOptions>(), session.terminal.env);
      const work = exportTo(session, { query: queryOf(number, flags), folder: flags.out, service });
      const { records, recordings } = await session.working('exporting', work);
      const done = `${records} records and ${recordings} recordings written to ${flags.out}`;
      session.done(done, { records, recordings, folder: flags.out });
    });
  privacy
    .command('erase')
    .description(
      'Erase a number from all records. Deletes recordings, transcriptions and timelines; times and amounts of calls remain',
    )
    .argument('<number>', NUMBER)
    .option('--country <code>', COUNTRY)
    .option('--yes', 'erase; without this option, the command only shows what it would erase')
    .action(async (number: string, flags: Flags & { yes?: boolean }, command: Command) => {
      const session = sessionOf(command);
      const query = queryOf(number, flags);
      if (flags.yes !== true) {
        session.one(await session.client.get(ROOT, { query }));
        session.terminal.note('nothing was erased; repeat the command with --yes\n');
        return;
      }
      const reply = await session.working('erasing', session.client.delete(ROOT, { query }));
      const { calls, recordings, contacts, mentions } = reply;
      session.done(
        `erased: ${calls} calls, ${recordings} recordings, ${contacts} contacts, ${mentions} mentions`,
        reply,
      );
    });
}

/** Query of the person, folder to write, and the service. */
interface PersonExport {
  readonly query: ReturnType<typeof queryOf>;
  readonly folder: string;
  readonly service: FoundService;
}

/**
 * Writes the export line by line and downloads the recordings. The folder gets its name when it is complete. It never
 * mixes the data of two persons, and only its owner can read it.
 */
async function exportTo(
  session: Session,
  { query, folder: given, service }: PersonExport,
): Promise<{ readonly records: number; readonly recordings: number }> {
  const folder = resolve(given);
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new Error(`the folder ${given} is not empty: choose another one with --out`);
  // Another command may export another person to the same folder at the same time.
  const part = `${folder}.${randomUUID()}.part`;
  mkdirSync(part, { recursive: true, mode: 0o700 });
  const counts = { records: 0, recordings: 0 };
  const copied = async function* (): AsyncGenerator<string> {
    const reply = await session.client.file(`${ROOT}/export`, { query });
    for await (const line of linesOf(reply)) {
      const record = JSON.parse(line) as Json;
      counts.records += 1;
      if (record['type'] === 'recording') {
        if (await download(record, part, service)) counts.recordings += 1;
        else missing(session, record);
      }
      yield `${line}\n`;
    }
  };
  try {
    await pipeline(copied, createWriteStream(join(part, 'records.ndjson'), PRIVATE));
    renameSync(part, folder);
  } catch (error) {
    rmSync(part, { recursive: true, force: true });
    throw error;
  }
  return counts;
}

/** Reports a recording without a file. The other records of the person are exported all the same. */
function missing({ terminal }: Session, { recording_id: id }: Json): void {
  terminal.note(`the file of recording ${id} is missing\n`);
  terminal.fail();
}

/**
 * Returns false if the service does not have the file. The link has the public address of the service, which may not be
 * reachable from here.
 */
async function download(
  { url, recording_id: id, format }: Json,
  folder: string,
  service: FoundService,
): Promise<boolean> {
  const { pathname, search } = new URL(String(url));
  const reply = await service.fetch(`${service.url}${pathname}${search}`);
  if (reply.status === 404) return false;
  if (!reply.ok) throw new Error(`recording ${id}: status ${reply.status}`);
  const file = createWriteStream(join(folder, `${String(id)}.${String(format)}`), PRIVATE);
  await pipeline(Readable.fromWeb(reply.body as never), file);
  return true;
}
