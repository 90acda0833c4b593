import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { wallUs } from '../../../src/base/clock.ts';
import { ServiceError } from '../../../src/base/errors.ts';
import { asAccountId, asAppId } from '../../../src/base/ids.ts';
import { micros } from '../../../src/base/money.ts';
import type { NumberStore } from '../../../src/domain/provisioning/needs.ts';
import { nextMonth } from '../../../src/domain/provisioning/numbers.ts';
import {
  createProvisioning,
  type Numbers,
  type Provisioning,
} from '../../../src/domain/provisioning/provisioning.ts';
import { type OpenedStore, openInMemory } from '../../edge/store/open.ts';
import { anAccount, anEntry } from '../../edge/store/records.ts';

const ACCOUNT = anAccount().authId;
const E164 = '14155550100';
const DAY_MS = 86_400_000;

let opened: OpenedStore;
let provisioning: Provisioning;
let numbers: Numbers;
beforeEach(async () => {
  opened = await openInMemory();
  await opened.store.accounts.create(anAccount(), 't');
  await opened.store.accounts.create(anAccount({ authId: asAccountId('MA_OTHER') }), 't');
  await opened.store.ledger.post([anEntry({ amount: micros(3_000_000) })], { checked: false });
  provisioning = createProvisioning(opened.store, opened, {
    realm: 'r',
    usernameSuffix: 'always',
  });
  numbers = provisioning.numbers;
  await numbers.add({
    e164: E164,
    country: 'US',
    currency: 'USD',
    setupFeeMicros: 500_000,
    monthlyFeeMicros: 1_000_000,
  });
});
afterEach(() => opened.store.close());

const topUp = (amount: number) =>
  opened.store.ledger.post([anEntry({ amount: micros(amount) })], { checked: false });
const balance = async () => (await opened.store.ledger.balance(ACCOUNT, 'USD'))?.balance;

describe('numbers', () => {
  it('charges setup and first month for a purchase and assigns the number to the account', async () => {
    const bought = await numbers.purchase(E164, ACCOUNT, 'usd');
    expect(bought).toMatchObject({ value: { accountId: ACCOUNT, status: 'active' } });
    expect(await balance()).toBe(1_500_000);
    const { entries } = await opened.store.ledger.page({ accountId: ACCOUNT, type: 'debit' }, 1, 9);
    expect(entries.map((entry) => [entry.type, entry.referenceType, entry.amount])).toEqual([
      ['did_rental', 'did_rental', 1_000_000],
      ['debit', 'did_rental', 500_000],
    ]);
  });

  it('renews the other numbers if the renewal of one fails', async () => {
    await topUp(10_000_000);
    for (const e164 of ['14155550177', '14155550188']) {
      const given = { e164, country: 'US', currency: 'USD', accountId: ACCOUNT };
      await numbers.add({ ...given, monthlyFeeMicros: 1_000_000 });
    }
    const { numbers: store } = opened.store;
    const failing: NumberStore = {
      ...store,
      rent: async (number, ...rest) => {
        if (number.e164 === '14155550177') throw new ServiceError('STORE_CORRUPT', 'unreadable');
        return store.rent(number, ...rest);
      },
    };
    const renewing = createProvisioning({ ...opened.store, numbers: failing }, opened, {
      realm: 'r',
      usernameSuffix: 'always',
    }).numbers;
    await opened.clock.advance(32 * DAY_MS);
    await expect(renewing.chargeRentals()).rejects.toThrow('unreadable');
    expect(await numbers.get('14155550188')).toMatchObject({
      value: { lastBilledUs: wallUs(opened.clock) },
    });
  });

  it('charges the rent of a number that the operator gave to an account from the next month', async () => {
    const given = { e164: '14155550177', country: 'US', currency: 'USD', accountId: ACCOUNT };
    await numbers.add({ ...given, setupFeeMicros: 500_000, monthlyFeeMicros: 1_000_000 });
    expect(await numbers.chargeRentals()).toBe(0);
    await opened.clock.advance(32 * DAY_MS);
    expect(await numbers.chargeRentals()).toBe(1);
    expect(await balance()).toBe(2_000_000);
  });

  it('charges nothing for a purchase that the balance does not cover', async () => {
    await opened.store.ledger.post([anEntry({ type: 'debit', amount: micros(2_000_000) })], {
      checked: false,
    });
    expect(await numbers.purchase(E164, ACCOUNT, 'USD')).toMatchObject({
      error: { kind: 'insufficientFunds' },
    });
    expect(await balance()).toBe(1_000_000);
    expect(await numbers.get(E164)).toMatchObject({ value: { status: 'available' } });
  });

  it('sells a number once to two concurrent buyers and charges one', async () => {
    await opened.store.ledger.post([anEntry({ accountId: asAccountId('MA_OTHER') })], {
      checked: false,
    });
    const both = await Promise.all([
      numbers.purchase(E164, ACCOUNT, 'USD'),
      numbers.purchase(E164, asAccountId('MA_OTHER'), 'USD'),
    ]);
    expect(both.map((one) => one.ok).sort()).toEqual([false, true]);
    const other = (await opened.store.ledger.balance(asAccountId('MA_OTHER'), 'USD'))?.balance ?? 0;
    expect((await balance()) ?? 0).toBe(both[0].ok ? 1_500_000 : 3_000_000);
    expect(other).toBe(both[1].ok ? 8_500_000 : 10_000_000);
  });

  it('changes no number that was sold to another account during the request', async () => {
    const other = asAccountId('MA_OTHER');
    await opened.store.ledger.post([anEntry({ accountId: other })], { checked: false });
    await numbers.purchase(E164, ACCOUNT, 'USD');
    const { get } = opened.store.numbers;
    const sellAfterRead = async (e164: string) => {
      const read = await get(e164);
      numberStore.get = get;
      await numbers.release(E164, ACCOUNT);
      await numbers.purchase(E164, other, 'USD');
      return read;
    };
    const numberStore = { ...opened.store.numbers };
    const racing = createProvisioning({ ...opened.store, numbers: numberStore }, opened, {
      realm: 'r',
      usernameSuffix: 'always',
    }).numbers;
    numberStore.get = sellAfterRead;
    expect((await racing.change(ACCOUNT, E164, { alias: 'mine' })).ok).toBe(false);
    expect((await numbers.release(E164, other)).ok).toBe(true);
    await numbers.purchase(E164, ACCOUNT, 'USD');
    numberStore.get = sellAfterRead;
    expect((await racing.release(E164, ACCOUNT)).ok).toBe(false);
    expect(await numbers.get(E164)).toMatchObject({
      value: { accountId: other, alias: undefined },
    });
  });

  it('charges no rent for a number that was released or renewed after it was listed as due', async () => {
    await numbers.purchase(E164, ACCOUNT, 'USD');
    await opened.clock.advance(31 * DAY_MS);
    const nowUs = wallUs(opened.clock);
    const [due] = await opened.store.numbers.dueForRental(nowUs, 1);
    if (due === undefined) throw new Error('no rent is due');
    const fee = anEntry({ type: 'did_rental', amount: micros(1_000_000), key: 'rent' });
    const next = nextMonth(nowUs);
    expect(await numbers.chargeRentals()).toBe(1);
    expect(await opened.store.numbers.rent(due, fee, next)).toEqual({
      ok: false,
      error: 'changed',
    });
    expect(await opened.store.numbers.suspend(due, next)).toBe(false);
    const renewed = await numbers.get(E164);
    if (!renewed.ok) throw new Error(renewed.error.kind);
    await numbers.release(E164, ACCOUNT);
    expect(await opened.store.numbers.rent(renewed.value, fee, next)).toMatchObject({ ok: false });
    expect(await balance()).toBe(500_000);
  });

  it('refuses another currency', async () => {
    expect(await numbers.purchase(E164, ACCOUNT, 'EUR')).toMatchObject({
      error: { kind: 'currencyMismatch' },
    });
  });

  it('charges each month once, also after a downtime of two months', async () => {
    await numbers.purchase(E164, ACCOUNT, 'USD');
    expect(await numbers.chargeRentals()).toBe(0);
    await opened.clock.advance(31 * DAY_MS);
    expect(await numbers.chargeRentals()).toBe(1);
    expect(await numbers.chargeRentals()).toBe(0);
    expect(await balance()).toBe(500_000);
    await topUp(2_000_000);
    await opened.clock.advance(61 * DAY_MS);
    expect(await numbers.chargeRentals()).toBe(2);
    expect(await balance()).toBe(500_000);
  });

  it('suspends a number whose renewal the balance does not cover, and retries daily', async () => {
    const renewals: boolean[] = [];
    numbers.onRenewal(({ isPaid }) => renewals.push(isPaid));
    await numbers.purchase(E164, ACCOUNT, 'USD');
    await opened.clock.advance(31 * DAY_MS);
    expect(await numbers.chargeRentals()).toBe(1);
    for (let day = 0; day < 90; day += 1) {
      await opened.clock.advance(DAY_MS);
      expect(await numbers.chargeRentals()).toBe(0);
    }
    expect(await balance()).toBe(500_000);
    expect(renewals).toEqual([false]);
    const suspended = await numbers.get(E164, ACCOUNT);
    expect(suspended).toMatchObject({ value: { status: 'suspended', accountId: ACCOUNT } });
    expect(await opened.store.callerIds.owns(ACCOUNT, E164)).toBe(false);

    await topUp(1_000_000);
    expect(await numbers.chargeRentals()).toBe(0);
    await opened.clock.advance(DAY_MS);
    expect(await numbers.chargeRentals()).toBe(1);
    expect(await balance()).toBe(500_000);
    expect(renewals).toEqual([false, true]);
    const paid = await numbers.get(E164);
    if (!paid.ok) throw new Error(paid.error.kind);
    const nowUs = wallUs(opened.clock);
    const { status, suspendedUs, nextBillingUs } = paid.value;
    expect([status, suspendedUs]).toEqual(['active', undefined]);
    expect(nextBillingUs).toBe(nextMonth(nowUs));
  });

  it('renews postpaid accounts within their credit line, and soft limits always', async () => {
    const { ledger } = opened.store;
    await numbers.purchase(E164, ACCOUNT, 'USD');
    const line = { isPostpaid: true, creditLimit: micros(1_000_000) };
    await ledger.patchBalance(ACCOUNT, 'USD', line);
    await opened.clock.advance(62 * DAY_MS);
    expect(await numbers.chargeRentals()).toBe(2);
    await opened.clock.advance(31 * DAY_MS);
    expect(await numbers.chargeRentals()).toBe(0);
    await ledger.patchBalance(ACCOUNT, 'USD', { creditLimitType: 'soft' });
    await opened.clock.advance(DAY_MS);
    expect(await numbers.chargeRentals()).toBe(1);
    expect(await balance()).toBe(-1_500_000);
  });

  it('keeps a suspended number suspended after its release is cancelled', async () => {
    const slow = createProvisioning(opened.store, opened, {
      realm: 'r',
      usernameSuffix: 'always',
      releaseCooldownMs: 30 * DAY_MS,
    }).numbers;
    await slow.purchase(E164, ACCOUNT, 'USD');
    await opened.clock.advance(62 * DAY_MS);
    await slow.chargeRentals();
    expect(await slow.release(E164, ACCOUNT)).toMatchObject({
      value: { status: 'pending_release' },
    });
    expect(await slow.cancelRelease(E164, ACCOUNT)).toMatchObject({
      value: { status: 'suspended' },
    });
  });

  it("keeps the account's name of a number until the account releases it", async () => {
    await numbers.purchase(E164, ACCOUNT, 'USD');
    await numbers.change(ACCOUNT, E164, { alias: 'Front line' });
    expect(await numbers.get(E164)).toMatchObject({ value: { alias: 'Front line' } });
    await numbers.release(E164, ACCOUNT);
    expect(await numbers.get(E164)).toMatchObject({
      value: { status: 'available', alias: undefined },
    });
  });

  it('route to an application or a trunk of the same account, never to both', async () => {
    await numbers.purchase(E164, ACCOUNT, 'USD');
    const application = await provisioning.applications.create({
      accountId: ACCOUNT,
      name: 'a',
      answerUrl: 'http://127.0.0.1/',
    });
    const trunk = await provisioning.trunks.create({ accountId: ACCOUNT, name: 't' });
    if (!trunk.ok) throw new Error(trunk.error.kind);
    await numbers.attachApplication(ACCOUNT, E164, application.appId);
    const assigned = await numbers.assignTrunk(ACCOUNT, E164, trunk.value.trunkId);
    expect(assigned).toMatchObject({
      value: { applicationId: undefined, trunkGroupId: trunk.value.trunkId },
    });
    expect(
      await numbers.attachApplication(asAccountId('MA_OTHER'), E164, application.appId),
    ).toMatchObject({
      error: { kind: 'unknownNumber' },
    });
    expect(await numbers.attachApplication(ACCOUNT, E164, asAppId(1))).toMatchObject({
      error: { kind: 'unknownApplication' },
    });
    expect(await provisioning.trunks.remove(ACCOUNT, trunk.value.trunkId)).toMatchObject({
      error: { kind: 'inUse' },
    });
  });

  it('do not route to an application or a trunk of another account', async () => {
    await numbers.purchase(E164, ACCOUNT, 'USD');
    const accountId = asAccountId('MA_OTHER');
    const answerUrl = 'http://127.0.0.1/';
    const application = await provisioning.applications.create({ accountId, name: 'a', answerUrl });
    const trunk = await provisioning.trunks.create({ accountId, name: 't' });
    if (!trunk.ok) throw new Error(trunk.error.kind);
    expect(await numbers.attachApplication(ACCOUNT, E164, application.appId)).toMatchObject({
      error: { kind: 'unknownApplication' },
    });
    expect(await numbers.assignTrunk(ACCOUNT, E164, trunk.value.trunkId)).toMatchObject({
      error: { kind: 'unknownTrunk' },
    });
  });

  it('makes a released number available without routing', async () => {
    await numbers.purchase(E164, ACCOUNT, 'USD');
    expect(await numbers.release(E164, asAccountId('MA_OTHER'))).toMatchObject({ ok: false });
    expect(await numbers.release(E164, ACCOUNT)).toMatchObject({
      value: { status: 'available', accountId: undefined, nextBillingUs: undefined },
    });
    expect((await numbers.remove(E164)).ok).toBe(true);
  });

  it('charges no rent during the release cooldown and then returns the number to the inventory', async () => {
    const { numbers: slow } = createProvisioning(opened.store, opened, {
      realm: 'r',
      usernameSuffix: 'always',
      releaseCooldownMs: 40 * DAY_MS,
    });
    await slow.purchase(E164, ACCOUNT, 'USD');
    await slow.release(E164, ACCOUNT);
    await opened.clock.advance(39 * DAY_MS);
    expect(await slow.chargeRentals()).toBe(0);
    expect(await slow.completeReleases()).toBe(0);
    // A repeated release does not extend the cooldown.
    expect(await slow.release(E164, ACCOUNT)).toMatchObject({ ok: true });
    await opened.clock.advance(DAY_MS);
    expect(await slow.completeReleases()).toBe(1);
    expect(await slow.get(E164)).toMatchObject({
      value: { status: 'available', accountId: undefined, cooldownEndsUs: undefined },
    });
    expect(await slow.cancelRelease(E164, ACCOUNT)).toMatchObject({
      error: { kind: 'unknownNumber' },
    });
  });

  it('restores routing and rent when a release is cancelled', async () => {
    const { numbers: slow, applications } = createProvisioning(opened.store, opened, {
      realm: 'r',
      usernameSuffix: 'always',
      releaseCooldownMs: 40 * DAY_MS,
    });
    const app = await applications.create({ accountId: ACCOUNT, name: 'a', answerUrl: 'http://a' });
    await slow.purchase(E164, ACCOUNT, 'USD');
    await slow.attachApplication(ACCOUNT, E164, app.appId);
    await slow.release(E164, ACCOUNT);
    await opened.clock.advance(35 * DAY_MS);
    expect(await slow.cancelRelease(E164, ACCOUNT)).toMatchObject({
      value: { status: 'active', applicationId: app.appId, accountId: ACCOUNT },
    });
    expect(await slow.chargeRentals()).toBe(1);
  });

  describe('released and bought by another account before the change', () => {
    const OTHER = asAccountId('MA_OTHER');

    /** Returns numbers whose owner changes after the first call of `operation` has read the number. */
    async function changingAfter(operation: 'get' | 'dueForRental'): Promise<Numbers> {
      await opened.store.ledger.post([anEntry({ accountId: OTHER })], { checked: false });
      await numbers.purchase(E164, ACCOUNT, 'USD');
      const act = opened.store.numbers[operation] as (...given: unknown[]) => Promise<unknown>;
      let changes = true;
      const changing = async (...given: unknown[]): Promise<unknown> => {
        const read = await act(...given);
        if (!changes) return read;
        changes = false;
        await numbers.release(E164, ACCOUNT);
        await numbers.purchase(E164, OTHER, 'USD');
        return read;
      };
      const store = new Proxy(opened.store.numbers, {
        get: (of, name) => (name === operation ? changing : Reflect.get(of, name)),
      });
      const stores = new Proxy(opened.store, {
        get: (of, name) => (name === 'numbers' ? store : Reflect.get(of, name)),
      });
      return createProvisioning(stores, opened, { realm: 'r', usernameSuffix: 'always' }).numbers;
    }

    type Change = (of: Numbers) => Promise<unknown>;
    it.each<[string, Change]>([
      ['release', (of) => of.release(E164, ACCOUNT)],
      ['rename', (of) => of.change(ACCOUNT, E164, { alias: 'mine' })],
      ['detach', (of) => of.detach(ACCOUNT, E164, 'application')],
      ['assign a sub-account', (of) => of.assignSubAccount(ACCOUNT, E164, ACCOUNT)],
    ])('the old account cannot change it: %s', async (_, change) => {
      const changing = await changingAfter('get');
      expect(await change(changing)).toMatchObject({ error: { kind: 'unknownNumber' } });
      expect(await numbers.get(E164, OTHER)).toMatchObject({
        value: { status: 'active', alias: undefined, subAccount: undefined },
      });
    });

    it('neither account pays its renewal, and it is not suspended', async () => {
      const changing = await changingAfter('dueForRental');
      await opened.clock.advance(31 * DAY_MS);
      const before = await balance();
      expect(await changing.chargeRentals()).toBe(0);
      expect(await balance()).toBe(before);
      expect(await numbers.get(E164, OTHER)).toMatchObject({ value: { status: 'active' } });
    });
  });

  it('adds a number to the inventory once', async () => {
    expect(await numbers.add({ e164: E164, country: 'US', currency: 'USD' })).toMatchObject({
      error: { kind: 'numberExists' },
    });
  });
});

describe('the next month', () => {
  it.each([
    ['2026-01-15T10:00:00Z', '2026-02-15T10:00:00.000Z'],
    ['2026-01-31T00:00:00Z', '2026-02-28T00:00:00.000Z'],
    ['2028-01-31T00:00:00Z', '2028-02-29T00:00:00.000Z'],
    ['2026-12-31T23:00:00Z', '2027-01-31T23:00:00.000Z'],
  ])('follows %s on %s', (from, next) => {
    expect(new Date(nextMonth(Date.parse(from) * 1000) / 1000).toISOString()).toBe(next);
  });

  it.each([
    ['2026-02-28T10:00:00Z', '2026-01-31T10:00:00Z', '2026-03-31T10:00:00.000Z'],
    ['2026-04-30T10:00:00Z', '2026-01-31T10:00:00Z', '2026-05-31T10:00:00.000Z'],
    ['2026-02-28T10:00:00Z', '2026-01-29T10:00:00Z', '2026-03-29T10:00:00.000Z'],
    ['2026-02-28T10:00:00Z', '2026-01-15T10:00:00Z', '2026-03-28T10:00:00.000Z'],
    ['2026-03-28T10:00:00Z', '2026-01-31T10:00:00Z', '2026-04-28T10:00:00.000Z'],
  ])('follows %s of a number bought on %s on %s', (from, bought, next) => {
    const nextUs = nextMonth(Date.parse(from) * 1000, Date.parse(bought) * 1000);
    expect(new Date(nextUs / 1000).toISOString()).toBe(next);
  });
});
