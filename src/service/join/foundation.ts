/** Store and the modules of facts that stand on it. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { ServiceError } from '../../base/errors.ts';
import { type Random, uuid } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { Result } from '../../base/result.ts';
import type { Settings } from '../../config/schema.ts';
import { recoverOpenCalls } from '../../domain/cdr/cdr.ts';
import { parseRates, RateBook } from '../../domain/ledger/ledger.ts';
import type { Carriers } from '../../domain/provisioning/provisioning.ts';
import { parseCarriersFile } from '../../edge/rest/server.ts';
import { openStore, type Store } from '../../edge/store/store.ts';
import { localRecordingFiles } from '../recording-files.ts';
import { type Facts, joinFacts } from './facts.ts';

/** What everything is given. */
export interface Basics {
  readonly settings: Settings;
  /** The project's folder: `config/` stands there. */
  readonly root: string;
  readonly dataDir: string;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly random: Random;
}

export interface Foundation extends Facts {
  readonly store: Store;
  /** Digest realm, chosen at the first start and never changed: HA1 depends on it. */
  readonly realm: string;
  readonly recordingFiles: ReturnType<typeof localRecordingFiles>;
}

const HOUR_MS = 3_600_000;

export const recordingsFolder = (dataDir: string): string => join(dataDir, 'recordings');

/** Opens the store, reads prices and carriers, and closes what a crash left open. */
export async function layFoundation(basics: Basics): Promise<Foundation> {
  const { settings, root, logger, clock, random } = basics;
  const dataDir = resolve(basics.dataDir);
  const { synchronous } = settings.store;
  const store = await openStore({ dataDir, synchronous, logger, clock, random });
  const realm = await store.settings.getOrSet('sip.realm', `carillon-${uuid(random).slice(0, 8)}`);
  const recordingFiles = localRecordingFiles(recordingsFolder(dataDir));
  const facts = joinFacts(store, {
    clock,
    random,
    logger,
    accounts: settings.accounts,
    provisioning: {
      realm,
      ...settings.endpoints,
      releaseCooldownMs: settings.numbers.releaseCooldownHours * HOUR_MS,
    },
    recordingFiles,
    rateBook: new RateBook(readConfig(join(root, 'config', 'rates.json'), parseRates)),
  });
  await facts.ledger.loadRates();
  await loadCarriers(join(root, 'config', 'carriers.json'), facts.provisioning.carriers);
  await recoverOpenCalls(store.calls, logger);
  return { ...facts, store, realm, recordingFiles };
}

/** The file overwrites the carriers that it names; others, made by `/admin/v1/carriers`, stay as they are. */
async function loadCarriers(file: string, carriers: Carriers): Promise<void> {
  await carriers.load();
  for (const carrier of readConfig(file, parseCarriersFile)) {
    const created = await carriers.create(carrier);
    if (!created.ok) await carriers.patch(carrier.name, carrier);
  }
}

function readConfig<T>(file: string, parse: (document: unknown) => Result<T, string>): T {
  let document: unknown;
  try {
    document = JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new ServiceError('CONFIG_INVALID', `${file} cannot be read as JSON`, { cause });
  }
  const parsed = parse(document);
  if (!parsed.ok) throw new ServiceError('CONFIG_INVALID', `${file}: ${parsed.error}`);
  return parsed.value;
}
