/** Store and the rooms of facts that stand on it. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { ServiceError } from '../../base/errors.ts';
import { type Random, uuid } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { Result } from '../../base/result.ts';
import type { Settings } from '../../config/schema.ts';
import { Accounts } from '../../domain/account/account.ts';
import { CallRecords, recoverOpenCalls } from '../../domain/cdr/cdr.ts';
import { Ledger, parseRates, RateBook } from '../../domain/ledger/ledger.ts';
import {
  type Carriers,
  createProvisioning,
  type Provisioning,
} from '../../domain/provisioning/provisioning.ts';
import { Recordings } from '../../domain/recording/recording.ts';
import { parseCarriersFile } from '../../edge/rest/server.ts';
import { openStore, type Store } from '../../edge/store/store.ts';
import { localRecordingFiles } from '../recording-files.ts';

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

export interface Foundation {
  readonly store: Store;
  /** Digest realm, chosen at the first start and never changed: HA1 depends on it. */
  readonly realm: string;
  readonly accounts: Accounts;
  readonly ledger: Ledger;
  readonly provisioning: Provisioning;
  readonly recordings: Recordings;
  readonly recordingFiles: ReturnType<typeof localRecordingFiles>;
  readonly callRecords: CallRecords;
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
  const rates = readConfig(join(root, 'config', 'rates.json'), parseRates);
  const ledger = new Ledger({
    store: store.ledger,
    rates: store.rates,
    rateBook: new RateBook(rates),
    log: logger,
  });
  await ledger.loadRates();
  const provisioning = createProvisioning(
    store,
    { clock, random },
    {
      realm,
      ...settings.endpoints,
      releaseCooldownMs: settings.numbers.releaseCooldownHours * HOUR_MS,
    },
  );
  await loadCarriers(join(root, 'config', 'carriers.json'), provisioning.carriers);
  const recordingFiles = localRecordingFiles(recordingsFolder(dataDir));
  await recoverOpenCalls(store.calls, logger);
  return {
    store,
    realm,
    accounts: new Accounts({
      store: store.accounts,
      partners: store.partners,
      idempotency: store.idempotency,
      clock,
      random,
      defaults: settings.accounts,
    }),
    ledger,
    provisioning,
    recordings: new Recordings({
      recordings: store.recordings,
      exports: store.exports,
      files: recordingFiles,
      clock,
      random,
    }),
    recordingFiles,
    callRecords: new CallRecords(store.cdrs),
  };
}

/** The file is the truth about the carriers that it names; others are the operator's, by `/admin/v1/carriers`. */
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
