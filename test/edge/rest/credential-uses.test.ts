import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { wallUs } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { CredentialUses } from '../../../src/edge/rest/server.ts';
import { type OpenedStore, openInMemory } from '../store/open.ts';
import { anAccount } from '../store/records.ts';

const ACCOUNT = anAccount().authId;
let opened: OpenedStore;
beforeEach(async () => {
  opened = await openInMemory();
});
afterEach(() => opened.store.close());

const onNode = () => {
  const { store, clock } = opened;
  return new CredentialUses({ store: store.credentialUses, clock, logger: silentLogger });
};

describe('the last use of credentials', () => {
  it('is that of all nodes, and survives a restart', async () => {
    const [one, other] = [onNode(), onNode()];
    one.used(ACCOUNT, '192.0.2.1', 'curl');
    one.used(ACCOUNT, '192.0.2.1', 'curl');
    await opened.clock.advance(1000);
    other.used(ACCOUNT, '192.0.2.2', 'x'.repeat(500));
    await other.flush();
    // The earlier use is stored later.
    await opened.clock.advance(5000);
    await one.flush();
    expect(await onNode().lastOf(ACCOUNT)).toEqual({
      atUs: wallUs(opened.clock) - 5_000_000,
      address: '192.0.2.2',
      userAgent: 'x'.repeat(200),
      requests: 3,
    });
  });

  it('is deleted with its account', async () => {
    const uses = onNode();
    await opened.store.accounts.create(anAccount(), 'secret-token');
    uses.used(ACCOUNT, '192.0.2.1', 'curl');
    uses.used('MA_GONE' as typeof ACCOUNT, '192.0.2.1', 'curl');
    await uses.flush();
    await opened.store.credentialUses.purge();
    expect(await uses.lastOf(ACCOUNT)).toMatchObject({ requests: 1 });
    expect(await uses.lastOf('MA_GONE' as typeof ACCOUNT)).toBeUndefined();
  });
});
