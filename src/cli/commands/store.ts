/** Commands that create backups of a running service, and verify and restore them offline. */

import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { csvLine } from '../../base/csv.ts';
import { systemRandom } from '../../base/system-random.ts';
import { quantity } from '../../base/text.ts';
import type { BackupFacts, StoredRecording } from '../../edge/store/offline.ts';
import type { Session } from '../terminal.ts';

type SessionOf = (command: Command) => Session;

/** Suffix of the file next to a backup that holds its size and checksum. */
const MANIFEST = '.json';
const RECORDINGS = '.recordings.csv';
/** Maximum number of missing recordings that a message lists by name. */
const NAMED = 10;

interface Manifest {
  readonly sha256: string;
  readonly bytes: number;
  readonly schema_version: number;
  readonly recordings: number;
}

export function addStoreCommands(program: Command, sessionOf: SessionOf): void {
  program
    .command('backup')
    .description(
      'Write a consistent copy of the database, its checksum and the list of recordings to the backups folder',
    )
    .option('--name <file>', 'file name; default: a name with the current time')
    .action(async (flags: { name?: string }, command: Command) => {
      const session = sessionOf(command);
      const { client } = session;
      const work = client.post('/admin/v1/backup', { body: flags });
      const reply = await session.working('backing up', work, async () => {
        const { running, bytes, total_bytes: total } = await client.get('/admin/v1/backup');
        return running && total > 0 ? bytes / total : undefined;
      });
      const { path } = reply;
      const isHere = existsSync(path);
      if (isHere) await session.working('checking', describe(path));
      else session.terminal.note('the service runs on another machine: no checksum was written\n');
      session.done(`backup written: ${path} (${reply['bytes']} bytes)`, reply);
    });
  program
    .command('verify')
    .description(
      'Verify that the ledger entries of every balance add up, in the running service or in a backup; exit status 1 if not',
    )
    .argument('[backup]', 'backup file to verify')
    .option(
      '--recordings <folder>',
      'also check that this folder contains the recordings of the backup',
    )
    .action(async (file: string | undefined, flags: { recordings?: string }, command: Command) => {
      const session = sessionOf(command);
      if (file !== undefined) return verifyBackup(session, file, flags.recordings);
      const reply = await session.working('verifying', session.client.post('/admin/v1/verify'));
      if (reply.ok) return session.done('every balance adds up', reply);
      session.list(reply, 'faults', [
        { title: 'ACCOUNT', value: (row) => row['account_id'] },
        { title: 'CURRENCY', value: (row) => row['currency'] },
        { title: 'BALANCE', value: (row) => row['balance_micros'], align: 'right' },
        { title: 'ENTRIES', value: (row) => row['sum_of_entries_micros'], align: 'right' },
        { title: 'RESERVED', value: (row) => row['reserved_micros'], align: 'right' },
        { title: 'HOLDS', value: (row) => row['sum_of_reservations_micros'], align: 'right' },
      ]);
      session.terminal.fail();
    });
  addRestore(program, sessionOf);
}

function addRestore(program: Command, sessionOf: SessionOf): void {
  program
    .command('restore')
    .description('Restore a backup into --data-dir. Stop the service first.')
    .argument('[backup]')
    .option('--keys <folder>', 'keys folder of the backup; default: the keys of the data folder')
    .option('--replace', 'move the existing database aside')
    .option(
      '--accept-loss',
      'instead of restoring: continue without the transactions that a damaged log has lost',
    )
    .option(
      '--accept-pages',
      'instead of restoring: accept pages that another program wrote without checksums',
    )
    .action(async (file: string | undefined, flags: RestoreFlags, command: Command) => {
      const session = sessionOf(command);
      const configured = await folderOfService(session);
      const { dataDir = configured } = command.optsWithGlobals<{ dataDir?: string }>();
      if (flags.acceptLoss === true) return accept(session, dataDir);
      if (flags.acceptPages === true) return acceptForeign(session, dataDir);
      if (file === undefined) throw new Error('name the backup to restore');
      const { examineBackup, requireWholeLog, restoreBackup } = await import(
        '../../edge/store/offline.ts'
      );
      requireWholeLog(file);
      const facts = examineBackup(file);
      const faults = [...(await changedSince(file)), ...faultsOf(facts)];
      if (faults.length > 0) throw new Error(`not restored: ${faults.join('; ')}`);
      const restored = restoreBackup({
        backup: file,
        dataDir,
        keys: flags.keys,
        replace: flags.replace === true,
        stamp: stampNow(),
        random: systemRandom,
      });
      const missing = missingOf(facts.recordings, join(dataDir, 'recordings'));
      const lines = [
        `restored: ${restored.database}`,
        ...(restored.putAside === undefined ? [] : [`previous database: ${restored.putAside}`]),
        ...contentsOf(facts),
        ...missingLines(missing),
        'start the service; charges after the backup are not included',
      ];
      const { recordings, ...rest } = facts;
      const counts = { recordings: recordings.length, missing_recordings: missing.length };
      session.report({ ...rest, ...restored, ...counts }, lines);
    });
}

interface RestoreFlags {
  readonly keys?: string;
  readonly replace?: boolean;
  readonly acceptLoss?: boolean;
  readonly acceptPages?: boolean;
}

const stampNow = (): string => new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');

async function accept(session: Session, dataDir: string): Promise<void> {
  const { acceptLoss } = await import('../../edge/store/offline.ts');
  const { faults, copy, facts } = acceptLoss(dataDir, stampNow());
  reportAccepted(session, facts, { lost_transactions: faults, copy }, [
    `${quantity(faults, 'transaction')} lost; previous database: ${copy}`,
  ]);
}

async function acceptForeign(session: Session, dataDir: string): Promise<void> {
  const { acceptPages } = await import('../../edge/store/offline.ts');
  const { faults, copy, facts } = acceptPages(dataDir, stampNow());
  reportAccepted(session, facts, { accepted_pages: faults, copy }, [
    `${quantity(faults, 'page')} accepted; previous database: ${copy}`,
  ]);
}

/** Reports the database, and fails if SQLite or the ledger finds it damaged. */
function reportAccepted(
  session: Session,
  facts: BackupFacts,
  more: Readonly<Record<string, string | number>>,
  lines: readonly string[],
): void {
  const faults = faultsOf(facts);
  const { recordings, ...rest } = facts;
  const reply = { ...rest, recordings: recordings.length, ...more, faults };
  session.report(reply, [
    ...lines,
    ...contentsOf(facts),
    ...(faults.length === 0 ? ['start the service'] : [...faults, 'restore a backup']),
  ]);
  if (faults.length > 0) session.terminal.fail();
}

/**
 * Returns the data folder of the settings. Throws if they use PostgreSQL: the service would not read a database restored
 * into the data folder.
 */
async function folderOfService(session: Session): Promise<string> {
  const { examineHere } = await import('../examine.ts');
  const { store, dataDir } = examineHere(session.terminal.env, undefined).settings;
  if (store.url === '') return dataDir;
  throw new Error('store.url is set to a PostgreSQL database: restore it with pg_restore');
}

async function verifyBackup(
  session: Session,
  file: string,
  folder: string | undefined,
): Promise<void> {
  const { examineBackup, requireWholeLog } = await import('../../edge/store/offline.ts');
  requireWholeLog(file);
  const facts = examineBackup(file);
  const missing = folder === undefined ? [] : missingOf(facts.recordings, folder);
  const faults = [...(await changedSince(file)), ...faultsOf(facts), ...missingLines(missing)];
  const { recordings, ...rest } = facts;
  const reply = { ok: faults.length === 0, ...rest, recordings: recordings.length, faults };
  session.report(
    reply,
    faults.length === 0 ? ['the backup is complete', ...contentsOf(facts)] : faults,
  );
  if (faults.length > 0) session.terminal.fail();
}

const contentsOf = (facts: BackupFacts): readonly string[] => [
  `${[
    quantity(facts.accounts, 'account'),
    quantity(facts.calls, 'call'),
    `${facts.entries} ledger ${facts.entries === 1 ? 'entry' : 'entries'}`,
    quantity(facts.recordings.length, 'recording'),
  ].join(', ')}; schema ${facts.schemaVersion}`,
];

function faultsOf({ damage, ledgerFaults, schemaVersion, knownVersion }: BackupFacts) {
  const newer =
    schemaVersion > knownVersion
      ? [
          `a newer version wrote it (schema ${schemaVersion}, this version supports ${knownVersion}): install that version first`,
        ]
      : [];
  const ledger = ledgerFaults.map(
    ({ accountId, currency }) => `the ${currency} balance of ${accountId} does not add up`,
  );
  return [...newer, ...damage, ...ledger];
}

function missingOf(
  recordings: readonly StoredRecording[],
  folder: string,
): readonly StoredRecording[] {
  return recordings.filter(
    ({ file, bytes }) => statSync(join(folder, file), { throwIfNoEntry: false })?.size !== bytes,
  );
}

function missingLines(missing: readonly StoredRecording[]): readonly string[] {
  if (missing.length === 0) return [];
  const named = missing.slice(0, NAMED).map(({ file }) => file);
  const more = missing.length > NAMED ? ' …' : '';
  return [
    `${missing.length} recordings are not in the folder (recordings in object storage are not counted): ${named.join(', ')}${more}`,
  ];
}

/** Writes the size and checksum of a backup next to it, so that a modified or truncated copy is detected. */
async function describe(path: string): Promise<void> {
  const { examineBackup } = await import('../../edge/store/offline.ts');
  const { giveToFolderOwner } = await import('../../edge/store/private-file.ts');
  const facts = examineBackup(path);
  const manifest: Manifest = {
    sha256: await sha256Of(path),
    bytes: statSync(path).size,
    schema_version: facts.schemaVersion,
    recordings: facts.recordings.length,
  };
  const rows = facts.recordings.map(({ file, bytes }) => csvLine([file, bytes]));
  const list = [csvLine(['file', 'bytes']), ...rows].join('');
  // The service reads them too, to name the backup to go back to.
  for (const [suffix, text] of [
    [RECORDINGS, list],
    [MANIFEST, `${JSON.stringify(manifest, undefined, 2)}\n`],
  ] as const) {
    writeFileSync(path + suffix, text, { mode: 0o600 });
    giveToFolderOwner(path + suffix);
  }
}

/** Compares the file with its manifest, if there is one. Returns the faults. */
async function changedSince(path: string): Promise<readonly string[]> {
  if (!existsSync(path + MANIFEST)) return [];
  const { sha256 } = JSON.parse(readFileSync(path + MANIFEST, 'utf8')) as Manifest;
  return (await sha256Of(path)) === sha256 ? [] : [`its checksum differs from ${path}${MANIFEST}`];
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
