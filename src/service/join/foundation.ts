/** Opens the store and composes the domain services on it. */
import { join, resolve } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { ServiceError } from '../../base/errors.ts';
import { type Random, uuid } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { ObjectStore } from '../../base/object-store.ts';
import type { Settings } from '../../config/schema.ts';
import { recoverOpenCalls } from '../../domain/cdr/cdr.ts';
import { SelfNode, sameId } from '../../domain/cluster/cluster.ts';
import { RateBook } from '../../domain/ledger/ledger.ts';
import { createS3Store } from '../../edge/objects/s3.ts';
import { openStore, type PostgresSettings, type Store } from '../../edge/store/store.ts';
import { NODE_FILE, PHONE_LOGIN_KEY_FILE, storedName, storedSecret } from '../data-folder.ts';
import type { OperatorLists } from '../operator-lists.ts';
import { localRecordingFiles } from '../recording-files.ts';
import { recordingKey } from '../recording-offload.ts';
import { storeCarriers } from '../reload.ts';
import { createDomainServices, type DomainServices } from './domain-services.ts';

/** Dependencies of every component. */
export interface Basics {
  readonly settings: Settings;
  readonly lists: OperatorLists;
  readonly dataDir: string;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly random: Random;
}

export interface Foundation extends DomainServices {
  /** The store. New rows belong to this node. */
  readonly store: Store;
  readonly self: SelfNode;
  /** Digest realm, chosen at the first start and never changed, because HA1 depends on it. */
  readonly realm: string;
  readonly recordingFiles: ReturnType<typeof localRecordingFiles>;
  /** Object storage. Undefined if not configured. */
  readonly objects?: ObjectStore | undefined;
}

const HOUR_MS = 3_600_000;
const MEGABYTE = 1_000_000;

export const recordingsFolder = (dataDir: string): string => join(dataDir, 'recordings');

/** Returns the PostgreSQL settings. Undefined if the store is in the data folder. */
const postgresOf = ({ store }: Settings): PostgresSettings | undefined =>
  store.url === ''
    ? undefined
    : { url: store.url, writers: store.writers, spoolBytes: store.spoolMegabytes * MEGABYTE };

/** Loads the data that domain modules keep in memory. */
async function loadKept({ ledger, provisioning }: DomainServices): Promise<void> {
  await ledger.loadRates();
  await provisioning.carriers.load();
  await provisioning.mediaPolicies.load();
}

/** Opens the store, loads prices and carriers, and closes calls that a crash left open. */
export async function layFoundation(basics: Basics): Promise<Foundation> {
  const { settings, lists, logger, clock, random } = basics;
  const dataDir = resolve(basics.dataDir);
  const { synchronous } = settings.store;
  const postgres = postgresOf(settings);
  const opened = await openStore({ dataDir, synchronous, postgres, logger, clock, random });
  const self = new SelfNode(settings.cluster.node || storedName(dataDir, NODE_FILE, random));
  // Without a cluster, no process sends heartbeats.
  if (settings.cluster.redis !== '' && (await self.isRunElsewhere(opened.nodes, clock)))
    throw new ServiceError('CONFIG_INVALID', sameId(self.id));
  await self.begin(opened.nodes, postgres === undefined);
  const store = opened.as(self);
  const realm = await store.settings.getOrSet('sip.realm', `carillon-${uuid(random).slice(0, 8)}`);
  const recordingFiles = localRecordingFiles(recordingsFolder(dataDir));
  const objects = settings.s3.endpoint === '' ? undefined : createS3Store(settings.s3);
  const facts = createDomainServices(store, {
    clock,
    random,
    logger,
    accounts: settings.accounts,
    provisioning: {
      realm,
      ...settings.endpoints,
      releaseCooldownMs: settings.numbers.releaseCooldownHours * HOUR_MS,
    },
    recordingFiles: {
      async remove(file) {
        await recordingFiles.remove(file);
        await objects?.remove(recordingKey(file));
      },
    },
    passwordMinLength: settings.console.passwordMinLength,
    phoneLoginSecret: storedSecret(dataDir, PHONE_LOGIN_KEY_FILE, random),
    rateBook: new RateBook(lists.rates),
  });
  await loadKept(facts);
  await storeCarriers(facts.provisioning.carriers, lists.carriers);
  await recoverOpenCalls(store.calls, logger);
  store.onChange(() => {
    loadKept(facts).catch((error: unknown) =>
      logger.warn({ error }, 'failed to reload changed data'),
    );
  });
  return { ...facts, store, self, realm, recordingFiles, objects };
}
