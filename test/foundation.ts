/** The modules of `layFoundation` over any store, with prices of the test. */
import { fileURLToPath } from 'node:url';
import { micros } from '../src/base/money.ts';
import type { Settings } from '../src/config/schema.ts';
import { SelfNode } from '../src/domain/cluster/cluster.ts';
import { RateBook } from '../src/domain/ledger/ledger.ts';
import type { Rate } from '../src/domain/ledger/types.ts';
import type { Store } from '../src/edge/store/store.ts';
import { createDomainServices } from '../src/service/join/domain-services.ts';
import type { Basics, Foundation } from '../src/service/join/foundation.ts';
import { loadSettings } from './config/load-settings.ts';

const DEFAULTS = fileURLToPath(new URL('../config/default.json', import.meta.url));

/** Settings from these environment variables. */
export const testSettings = (environment: Readonly<Record<string, string>>): Settings =>
  loadSettings(environment, DEFAULTS);

export const PULSE_MS = 60_000;

/** Prices per started minute, millionths of a dollar. */
export type Prices = Readonly<Partial<Record<Rate['direction'], number>>>;

const ratesOf = (prices: Prices): Rate[] =>
  Object.entries(prices).map(([direction, perMinute]) => ({
    direction: direction as Rate['direction'],
    prefix: '',
    perMinute: micros(perMinute),
    pulseMs: PULSE_MS,
    currency: 'USD',
    accountId: undefined,
  }));

export function testFoundation(
  { settings, logger, clock, random }: Basics,
  store: Store,
  over: {
    readonly prices: Prices;
    readonly recordingFiles: Foundation['recordingFiles'];
    readonly usernameSuffix?: 'always' | 'when-taken';
  },
): Foundation {
  const { prices, recordingFiles, usernameSuffix = settings.endpoints.usernameSuffix } = over;
  const realm = 'test';
  const facts = createDomainServices(store, {
    clock,
    random,
    logger,
    accounts: settings.accounts,
    provisioning: { realm, usernameSuffix },
    recordingFiles,
    rateBook: new RateBook(ratesOf(prices)),
  });
  return { ...facts, store, self: new SelfNode(''), realm, recordingFiles };
}
