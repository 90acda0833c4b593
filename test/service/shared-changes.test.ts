/** Changes of accounts by other nodes. */
import { expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { NodeLease } from '../../src/domain/cluster/cluster.ts';
import type { Cluster } from '../../src/edge/cluster/cluster.ts';
import { type Clustered, clusteredBy } from '../../src/service/join/cluster.ts';
import type { Basics } from '../../src/service/join/foundation.ts';
import { openInMemory } from '../edge/store/open.ts';
import { anAccount } from '../edge/store/records.ts';
import { testFoundation, testSettings } from '../foundation.ts';

const ACCOUNT = anAccount().authId;

it('rejects a token that another node replaced, although its message over Redis was lost', async () => {
  const { store, clock, random } = await openInMemory();
  const basics = { settings: testSettings({}), logger: silentLogger, clock, random };
  const announced: Array<() => void> = [];
  const foundation = testFoundation(
    basics as unknown as Basics,
    { ...store, onChange: (listener) => void announced.push(listener) },
    { prices: {}, recordingFiles: { remove: async () => undefined } as never },
  );
  await foundation.self.begin(store.nodes, false);
  const nothing = (): undefined => undefined;
  const cluster = {
    bus: { notify: nothing, hear: nothing, answer: nothing },
    redis: { onSubscribed: nothing },
    slots: { ready: async () => undefined },
    lease: new NodeLease(clock),
    isHeard: async () => undefined,
    stop: nothing,
  } as unknown as Cluster;
  const clustered = clusteredBy(cluster, basics, foundation);
  await clustered.start({ adopt: async () => undefined } as Parameters<Clustered['start']>[0]);
  await store.accounts.create(anAccount(), 'old');
  const { accounts } = foundation;
  expect((await accounts.authenticate(ACCOUNT, 'old')).ok).toBe(true);

  await store.accounts.addToken(ACCOUNT, 'new', 0);
  for (const announce of announced) announce();

  expect((await accounts.authenticate(ACCOUNT, 'old')).ok).toBe(false);
  expect((await accounts.authenticate(ACCOUNT, 'new')).ok).toBe(true);
  await clustered.leave();
  await store.close();
});
