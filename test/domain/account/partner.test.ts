import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AccountId, asAccountId } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { Accounts } from '../../../src/domain/account/account.ts';
import type { AccountPatch, TransferRequest } from '../../../src/domain/account/types.ts';
import { type OpenedStore, openInMemory } from '../../edge/store/open.ts';

let opened: OpenedStore;
let accounts: Accounts;
let partner: AccountId;
let customer: AccountId;

async function create(name: string, patch: AccountPatch): Promise<AccountId> {
  const made = await accounts.create({ name, ...patch });
  if (!made.ok) throw new Error(made.error.kind);
  return made.value.account.authId;
}

beforeEach(async () => {
  opened = await openInMemory();
  accounts = new Accounts({
    store: opened.store.accounts,
    partners: opened.store.partners,
    idempotency: opened.store.idempotency,
    clock: opened.clock,
    random: opened.random,
    logger: silentLogger,
    defaults: { concurrentCallsLimit: 10, cpsLimit: 2, currency: 'USD', country: 'US' },
  });
  partner = await create('Partner', {
    isPartner: true,
    limitTransferEnabled: true,
    concurrentCallsLimit: 100,
    cpsLimit: 20,
  });
  customer = await create('Customer', { partnerAuthId: partner });
});
afterEach(() => opened.store.close());

const move = (over: Partial<TransferRequest>) =>
  accounts.moveCapacity({
    operation: 'transfer',
    resource: 'concurrent_calls',
    slots: 5,
    partnerAuthId: partner,
    customerAuthId: customer,
    description: '',
    ...over,
  });
const limits = async () => [
  (await accounts.get(partner))?.concurrentCallsLimit,
  (await accounts.get(customer))?.concurrentCallsLimit,
];

describe('partner capacity', () => {
  it('transfers slots from the partner to the customer (rule 1)', async () => {
    const moved = await move({ slots: 30 });
    expect(moved).toMatchObject({ value: { partnerRemaining: 70, customerEffective: 40 } });
    expect(await limits()).toEqual([70, 40]);
  });

  it('treats cps and concurrent calls as separate resources', async () => {
    await move({ resource: 'cps', slots: 4 });
    expect(await limits()).toEqual([100, 10]);
    expect(await accounts.allocation(partner, customer)).toMatchObject({
      value: { net: { cps: 4, concurrentCalls: 0 } },
    });
  });

  it('limits a reclaim to what this partner gave and what the customer has (rule 2)', async () => {
    expect(await move({ operation: 'reclaim', slots: 1 })).toMatchObject({
      error: { kind: 'notEnoughCapacity', available: 0 },
    });
    await move({ slots: 30 });
    await accounts.patch(customer, { concurrentCallsLimit: 12 });
    expect(await move({ operation: 'reclaim', slots: 13 })).toMatchObject({
      error: { available: 12 },
    });
    expect(await move({ operation: 'reclaim', slots: 12 })).toMatchObject({
      value: { partnerRemaining: 82, customerEffective: 0 },
    });
  });

  it.each([
    ['notAPartner', () => opened.store.accounts.patch(partner, { isPartner: false })],
    ['notAPartner', () => accounts.patch(partner, { status: 'suspended' })],
    ['transferNotEnabled', () => accounts.patch(partner, { limitTransferEnabled: false })],
    ['notYourCustomer', () => accounts.patch(customer, { partnerAuthId: undefined })],
    ['customerIsPartner', () => accounts.patch(customer, { isPartner: true })],
    ['notEnoughCapacity', () => accounts.patch(partner, { concurrentCallsLimit: 4 })],
  ] as const)('refuses %s (rule 5)', async (kind, spoil) => {
    await spoil();
    const before = await limits();
    expect(await move({})).toMatchObject({ ok: false, error: { kind } });
    expect(await limits()).toEqual(before);
  });

  it('refuses an unknown customer', async () => {
    expect(await move({ customerAuthId: asAccountId('MA_NOBODY') })).toMatchObject({
      error: { kind: 'unknownCustomer' },
    });
  });

  it('returns the history newest first, with unique references', async () => {
    await move({ slots: 1 });
    await move({ slots: 2 });
    const history = await accounts.transferHistory(partner, { limit: 50, offset: 0 });
    if (!history.ok) throw new Error(history.error.kind);
    expect(history.value.items.map((item) => item.slots)).toEqual([2, 1]);
    expect(new Set(history.value.items.map((item) => item.reference)).size).toBe(2);
  });

  it('does not create or lose a slot in concurrent transfers (rule 3)', async () => {
    const one = fc.record({
      operation: fc.constantFrom('transfer' as const, 'reclaim' as const),
      slots: fc.integer({ min: 1, max: 60 }),
    });
    let moved = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(one, { maxLength: 30 }), async (movements) => {
        const sum = async () =>
          (await limits()).reduce<number>((all, limit) => all + (limit ?? 0), 0);
        const before = await sum();
        const results = await Promise.all(movements.map(move));
        moved += results.filter(({ ok }) => ok).length;
        expect(await sum()).toBe(before);
        for (const limit of await limits()) expect(limit).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 20 },
    );
    expect(moved).toBeGreaterThan(20);
  });
});
