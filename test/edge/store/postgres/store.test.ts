import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { silentLogger } from '../../../../src/base/logger.ts';
import type { PostgresConnection } from '../../../../src/edge/store/postgres/connection.ts';
import { openStore, type Store } from '../../../../src/edge/store/store.ts';
import { campaignContract } from '../../../contract/campaign-contract.ts';
import { entryListContract } from '../../../contract/entry-list-contract.ts';
import { mentionContract } from '../../../contract/mention-contract.ts';
import { privacyContract } from '../../../contract/privacy-contract.ts';
import { statementsContract } from '../../../contract/statements-contract.ts';
import { type Opened, storeContract } from '../../../contract/store-contract.ts';
import { emptyTables, postgresMissing, sharedCluster } from '../../../postgres.ts';
import { SimClock } from '../../../sim/clock.ts';
import { seededRandom } from '../open.ts';
import { START_US } from '../records.ts';

if (postgresMissing !== undefined) {
  describe.skip(postgresMissing, () => it('keeps the store contract', () => undefined));
} else {
  const clock = new SimClock();
  const folder = mkdtempSync(join(tmpdir(), 'carillon-store-'));
  let store: Store;
  let admin: PostgresConnection;

  beforeAll(async () => {
    const cluster = await sharedCluster();
    const url = cluster.database('contract');
    store = await openStore({
      dataDir: folder,
      synchronous: 'normal',
      postgres: { url, writers: 2, spoolBytes: 1_000_000 },
      logger: silentLogger,
      clock,
      random: seededRandom(),
    });
    admin = cluster.connect('contract');
  });
  afterAll(async () => {
    admin.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  // All tests share one store, because opening one takes longer than most tests.
  const emptied = (): Promise<Opened> => {
    emptyTables(admin);
    clock.stepWall(START_US / 1000 - clock.wallMs());
    return Promise.resolve({ store, clock, dispose: () => Promise.resolve() });
  };
  storeContract('PostgreSQL', emptied);
  entryListContract('PostgreSQL', emptied, 4);
  campaignContract('PostgreSQL', emptied);
  statementsContract('PostgreSQL', emptied);
  privacyContract('PostgreSQL', emptied);
  mentionContract('PostgreSQL', emptied);
}
