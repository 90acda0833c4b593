/** The rooms of facts over any store, with prices of a test's own: what `layFoundation` makes of a data folder. */
import { micros } from '../src/base/money.ts';
import { Accounts } from '../src/domain/account/account.ts';
import { CallRecords } from '../src/domain/cdr/cdr.ts';
import { Ledger, RateBook } from '../src/domain/ledger/ledger.ts';
import type { Rate } from '../src/domain/ledger/types.ts';
import { createProvisioning } from '../src/domain/provisioning/provisioning.ts';
import { Recordings } from '../src/domain/recording/recording.ts';
import type { Store } from '../src/edge/store/store.ts';
import type { Basics, Foundation } from '../src/service/join/foundation.ts';

export const PULSE_SECONDS = 60;

/** Millionths of a dollar per minute begun. */
export type Prices = Readonly<Partial<Record<Rate['direction'], number>>>;

const ratesOf = (prices: Prices): Rate[] =>
  Object.entries(prices).map(([direction, perMinute]) => ({
    direction: direction as Rate['direction'],
    prefix: '',
    perMinute: micros(perMinute),
    pulseSeconds: PULSE_SECONDS,
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
    ledger: new Ledger({
      store: store.ledger,
      rates: store.rates,
      rateBook: new RateBook(ratesOf(prices)),
      log: logger,
    }),
    provisioning: createProvisioning(store, { clock, random }, { realm, usernameSuffix }),
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
