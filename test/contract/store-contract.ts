/** Contract of every store implementation. The parameter opens a fresh store. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { wallUs } from '../../src/base/clock.ts';
import { asAccountId, asCallUuid } from '../../src/base/ids.ts';
import { micros } from '../../src/base/money.ts';
import type { Store } from '../../src/edge/store/store.ts';
import {
  aCdr,
  aNotification,
  anAccount,
  anEntry,
  anOpenCall,
  START_US,
} from '../edge/store/records.ts';
import type { SimClock } from '../sim/clock.ts';
import { nodeContract } from './node-contract.ts';
import { operateContract } from './operate-contract.ts';

export interface Opened {
  readonly store: Store;
  readonly clock: SimClock;
  /** Closes the store and deletes its data. */
  dispose(): Promise<void>;
}

const ACCOUNT = anAccount().authId;
const CALL = aCdr().callUuid;

export function storeContract(name: string, open: () => Promise<Opened>): void {
  describe(`${name} fulfills the store contract`, () => {
    let opened: Opened;
    let store: Store;
    const balance = async () => {
      const found = await store.ledger.balance(ACCOUNT, 'USD');
      if (found === undefined) throw new Error('no balance');
      return found;
    };

    beforeEach(async () => {
      opened = await open();
      store = opened.store;
      await store.accounts.create(anAccount(), 'secret-token');
      await store.ledger.post([anEntry()], { checked: false });
    });
    afterEach(async () => {
      expect(await store.verify()).toEqual([]);
      await opened.dispose();
    });

    accountContract(() => opened);

    describe('ledger', () => {
      it('changes a balance by each entry and keeps it equal to their sum', async () => {
        await store.ledger.post(
          [anEntry({ type: 'debit', amount: micros(1) }), anEntry({ amount: micros(5) })],
          { checked: false },
        );
        expect((await balance()).balance).toBe(10_000_004);
      });

      it('returns the first entry again for the same key and charges once', async () => {
        const entry = anEntry({ type: 'debit', amount: micros(300), key: 'once' });
        const first = await store.ledger.post([entry], { checked: false });
        const again = await store.ledger.post([entry], { checked: false });
        expect(again).toEqual(first);
        expect((await balance()).balance).toBe(9_999_700);
      });

      it('charges a reference of one type once', async () => {
        const entry = anEntry({ type: 'debit', amount: micros(300), reference: 'cdr:1' });
        await store.ledger.post([entry], { checked: false });
        await store.ledger.post([entry], { checked: false });
        expect((await balance()).balance).toBe(9_999_700);
      });

      it('returns the first entry for a repeat that the balance no longer covers', async () => {
        const debit = anEntry({ type: 'debit', amount: micros(6_000_000), key: 'once' });
        const first = await store.ledger.post([debit], { checked: true });
        expect(first.ok).toBe(true);
        expect(await store.ledger.post([debit], { checked: true })).toEqual(first);
        expect((await balance()).balance).toBe(4_000_000);
      });

      it('refuses another entry with the same key on request', async () => {
        const entry = anEntry({ amount: micros(300), key: 'once', promotional: true });
        const options = { checked: false, strict: true };
        const first = await store.ledger.post([entry], options);
        expect(await store.ledger.post([entry], options)).toEqual(first);
        for (const other of [{ amount: micros(301) }, { promotional: false }]) {
          expect(await store.ledger.post([{ ...entry, ...other }], options)).toEqual({
            ok: false,
            error: 'keyReused',
          });
        }
        expect((await balance()).balance).toBe(10_000_300);
      });

      it('lists entries in their order when the clock moves back', async () => {
        const { clock } = opened;
        clock.stepWall(-3_600_000);
        await store.ledger.post([anEntry({ description: 'later' })], { checked: false });
        clock.stepWall(3_600_000);
        const { entries } = await store.ledger.page({ accountId: ACCOUNT }, 1, 10);
        const [later, earlier] = entries;
        expect(later?.description).toBe('later');
        expect(later?.createdUs).toBeGreaterThanOrEqual(earlier?.createdUs ?? 0);
      });

      it('rolls back the first of two entries when the second is refused', async () => {
        const refused = await store.ledger.post(
          [
            anEntry({ type: 'debit', amount: micros(6_000_000) }),
            anEntry({ type: 'debit', amount: micros(6_000_000) }),
          ],
          { checked: true },
        );
        expect(refused).toEqual({ ok: false, error: 'insufficientFunds' });
        expect((await balance()).balance).toBe(10_000_000);
      });

      it('charges a use once, up to what the balance covers, and releases its reservation', async () => {
        const use = (id: string, perMinute: number) => ({
          reservationId: `recording:${id}`,
          accountId: ACCOUNT,
          currency: 'USD',
          rate: { perMinute: micros(perMinute), pulseMs: 1_000 },
          description: `Recording ${id}`,
          reference: `recording:${id}`,
          referenceType: 'recording' as const,
        });
        const hold = async (id: string, amount: number) =>
          store.ledger.reserve({
            reservationId: `recording:${id}`,
            accountId: ACCOUNT,
            currency: 'USD',
            amount: micros(amount),
            dailySpendLimit: 'ofAccount',
          });
        const cheap = use('r1', 60_000);
        await hold('r1', 1_000);
        const charged = { ok: true, value: { amount: 3_000, billedMs: 3_000 } };
        expect(await store.ledger.chargeUse(cheap, 2_600)).toEqual(charged);
        expect(await store.ledger.chargeUse(cheap, 9_000)).toEqual(charged);
        expect(await balance()).toMatchObject({ balance: 9_997_000, reservedFunds: 0 });
        const unused = use('r2', 60_000);
        await hold('r2', 1_000);
        const { total } = await store.ledger.page({ accountId: ACCOUNT }, 1, 1);
        await store.ledger.chargeUse(unused, 0);
        expect((await store.ledger.page({ accountId: ACCOUNT }, 1, 1)).total).toBe(total);
        const dear = use('r3', 180_000_000);
        await hold('r3', 9_000_000);
        expect(await store.ledger.chargeUse(dear, 8_000)).toEqual({
          ok: true,
          value: { amount: 9_000_000, billedMs: 3_000 },
        });
        expect(await store.ledger.chargeUse(use('r4', 180_000_000), 8_000)).toEqual({
          ok: true,
          value: { amount: 0, billedMs: 0 },
        });
        expect(await balance()).toMatchObject({ balance: 997_000, reservedFunds: 0 });
        expect(await store.ledger.verify()).toEqual([]);
      });

      it("counts reservations of uses toward the account's daily limit", async () => {
        await store.accounts.patch(ACCOUNT, { dailySpendLimit: micros(500) });
        const hold = { reservationId: 'u1', accountId: ACCOUNT, currency: 'USD' };
        const much = { ...hold, amount: micros(501), dailySpendLimit: 'ofAccount' } as const;
        expect(await store.ledger.reserve(much)).toEqual({ ok: false, error: 'dailySpendLimit' });
      });

      it('treats the credit line of a prepaid account as 0', async () => {
        const fits = anEntry({ type: 'debit', amount: micros(10_500_000) });
        const hold = { reservationId: 'h1', accountId: ACCOUNT, currency: 'USD' };
        const more = { ...hold, amount: micros(10_500_000), dailySpendLimit: undefined };
        await store.ledger.patchBalance(ACCOUNT, 'USD', { creditLimit: micros(1_000_000) });
        expect((await store.ledger.post([fits], { checked: true })).ok).toBe(false);
        expect((await store.ledger.reserve(more)).ok).toBe(false);
        await store.ledger.reserve({ ...more, amount: micros(1) });
        expect((await store.ledger.extend('h1', micros(10_500_000))).ok).toBe(false);
        await store.ledger.patchBalance(ACCOUNT, 'USD', { isPostpaid: true });
        expect((await store.ledger.extend('h1', micros(10_500_000))).ok).toBe(true);
        await store.ledger.release('h1', []);
        expect((await store.ledger.post([fits], { checked: true })).ok).toBe(true);
      });

      it('includes the credit line in a hard limit and does not block a soft limit', async () => {
        const big = anEntry({ type: 'debit', amount: micros(12_000_000) });
        const line = { creditLimit: micros(1_000_000), isPostpaid: true };
        await store.ledger.patchBalance(ACCOUNT, 'USD', line);
        expect((await store.ledger.post([big], { checked: true })).ok).toBe(false);
        await store.ledger.patchBalance(ACCOUNT, 'USD', { creditLimitType: 'soft' });
        expect((await store.ledger.post([big], { checked: true })).ok).toBe(true);
        expect((await balance()).balance).toBe(-2_000_000);
      });

      it('includes promotional credit in the balance and spends it first', async () => {
        const gift = anEntry({ amount: micros(500), promotional: true });
        await store.ledger.post([gift], { checked: false });
        expect(await balance()).toMatchObject({ balance: 10_000_500, promotionalBalance: 500 });
        const hold = { reservationId: 'r1', accountId: ACCOUNT, currency: 'USD' };
        for (const amount of [400, 600]) {
          await store.ledger.reserve({
            ...hold,
            amount: micros(amount),
            dailySpendLimit: undefined,
          });
          const promotionalReservedBalance = Math.min(amount, 500);
          expect(await balance()).toMatchObject({ promotionalReservedBalance });
          await store.ledger.release('r1', []);
        }
        const debit = anEntry({ type: 'debit', amount: micros(700) });
        await store.ledger.post([debit], { checked: false });
        expect(await balance()).toMatchObject({ balance: 9_999_800, promotionalBalance: 0 });
      });

      it('counts a pending entry once, when it is completed', async () => {
        const posted = await store.ledger.postPending(anEntry({ referenceType: 'payment' }));
        if (!posted.ok) throw new Error(posted.error);
        expect((await balance()).balance).toBe(10_000_000);
        await store.ledger.completePending(posted.value.id, 'completed');
        expect(await store.ledger.completePending(posted.value.id, 'completed')).toBeUndefined();
        expect((await balance()).balance).toBe(20_000_000);
      });

      it('loses and duplicates no charge of concurrent writers', async () => {
        const debit = anEntry({ type: 'debit', amount: micros(7) });
        await Promise.all(
          Array.from({ length: 200 }, () => store.ledger.post([debit], { checked: false })),
        );
        expect((await balance()).balance).toBe(10_000_000 - 200 * 7);
      });

      it('opens a second balance once, and only for main accounts', async () => {
        expect((await store.ledger.openBalance(ACCOUNT, 'EUR')).ok).toBe(true);
        expect(await store.ledger.openBalance(ACCOUNT, 'EUR')).toMatchObject({
          error: 'balanceExists',
        });
        expect(await store.ledger.openBalance(asAccountId('MA_X'), 'EUR')).toMatchObject({
          error: 'unknownAccount',
        });
        expect((await store.ledger.balances(ACCOUNT)).map((b) => b.currency)).toEqual([
          'EUR',
          'USD',
        ]);
      });

      it('refuses an entry in a currency without a balance', async () => {
        const posted = await store.ledger.post([anEntry({ currency: 'GBP' })], { checked: false });
        expect(posted).toEqual({ ok: false, error: 'unknownBalance' });
      });
    });

    describe('reservations', () => {
      const reservation = (amount: number, limit?: number) => ({
        reservationId: 'r1',
        accountId: ACCOUNT,
        currency: 'USD',
        amount: micros(amount),
        dailySpendLimit: limit === undefined ? undefined : micros(limit),
      });

      it('counts spending of the same transaction toward the daily limit', async () => {
        const spent = anEntry({ type: 'debit', amount: micros(600) });
        const [, reserved] = await Promise.all([
          store.ledger.post([spent], { checked: false }),
          store.ledger.reserve(reservation(500, 1000)),
        ]);
        expect(reserved).toEqual({ ok: false, error: 'dailySpendLimit' });
      });

      it('keeps reserved funds equal to the sum of reservations', async () => {
        await store.ledger.reserve(reservation(400));
        await store.ledger.reserve({ ...reservation(100), reservationId: 'r2' });
        expect((await balance()).reservedFunds).toBe(500);
        await store.ledger.extend('r1', micros(900));
        expect((await balance()).reservedFunds).toBe(1000);
        expect((await store.ledger.extend('r1', micros(300))).ok).toBe(true);
        expect((await balance()).reservedFunds).toBe(1000);
        await store.ledger.release('r1', [anEntry({ type: 'debit', amount: micros(50) })]);
        expect(await balance()).toMatchObject({ reservedFunds: 100, balance: 9_999_950 });
      });

      it('ignores a repeated reservation with the same ID', async () => {
        await store.ledger.reserve(reservation(400));
        expect((await store.ledger.reserve(reservation(400))).ok).toBe(true);
        expect((await balance()).reservedFunds).toBe(400);
        const all = { ...reservation(9_000_000), reservationId: 'r2' };
        await store.ledger.reserve(all);
        expect((await store.ledger.reserve(all)).ok).toBe(true);
        expect((await balance()).reservedFunds).toBe(9_000_400);
      });

      it('refuses to reserve the same funds twice', async () => {
        await store.ledger.reserve(reservation(9_000_000));
        const second = { ...reservation(2_000_000), reservationId: 'r2' };
        expect(await store.ledger.reserve(second)).toMatchObject({ error: 'insufficientFunds' });
        expect(await store.ledger.extend('r1', micros(11_000_000))).toMatchObject({
          error: 'insufficientFunds',
        });
      });

      it("includes today's spending and reservations in the daily limit", async () => {
        const spent = anEntry({ type: 'debit', amount: micros(600) });
        await store.ledger.post([spent], { checked: false });
        expect(await store.ledger.reserve(reservation(500, 1000))).toMatchObject({
          error: 'dailySpendLimit',
        });
        expect((await store.ledger.reserve(reservation(400, 1000))).ok).toBe(true);
        const more = { ...reservation(1, 1000), reservationId: 'r2' };
        expect(await store.ledger.reserve(more)).toMatchObject({ error: 'dailySpendLimit' });
        await opened.clock.advance(86_400_000);
        const tomorrow = { ...reservation(500, 1000), reservationId: 'r2' };
        expect((await store.ledger.reserve(tomorrow)).ok).toBe(true);
      });
    });

    callContract(() => opened);
    nodeContract(() => opened);
    operateContract(() => opened);
  });
}

function accountContract(opened: () => Opened): void {
  describe('accounts', () => {
    it('stores every field and patches only the given ones', async () => {
      const { store } = opened();
      const account = anAccount({
        authId: asAccountId('MA_B'),
        dailySpendLimit: micros(5),
        barredCountries: ['CU'],
      });
      await store.accounts.create(account, 't');
      expect(await store.accounts.get(asAccountId('MA_B'))).toEqual(account);
      const patch = { name: 'Eve', dailySpendLimit: undefined };
      expect(await store.accounts.patch(asAccountId('MA_B'), patch)).toEqual({
        ...account,
        name: 'Eve',
        dailySpendLimit: undefined,
      });
    });

    it('writes an account and the terms of its balances together', async () => {
      const { store } = opened();
      const { authId } = anAccount({ authId: asAccountId('MA_T') });
      const line = { creditLimit: micros(7), isPostpaid: true };
      await store.accounts.create(anAccount({ authId }), 't', undefined, line);
      expect(await store.ledger.balance(authId, 'USD')).toMatchObject(line);
      const terms = { lowBalanceThreshold: micros(3) };
      await store.accounts.patch(authId, { name: 'Eve' }, [{ currency: 'USD', terms }]);
      expect(await store.accounts.get(authId)).toMatchObject({ name: 'Eve' });
      expect(await store.ledger.balance(authId, 'USD')).toMatchObject({ ...line, ...terms });
      const unknown = [{ currency: 'EUR', terms }];
      await expect(store.accounts.patch(authId, { name: 'Bob' }, unknown)).rejects.toThrow();
      expect(await store.accounts.get(authId)).toMatchObject({ name: 'Eve' });
    });

    it('assigns an auth ID only once', async () => {
      const again = await opened().store.accounts.create(anAccount(), 't');
      expect(again).toEqual({ ok: false, error: 'authIdTaken' });
    });

    it("signs with the newest token, and for a sub-account also with the parent's token", async () => {
      const { store } = opened();
      const sub = anAccount({ authId: asAccountId('SA_S'), parentAuthId: ACCOUNT });
      await store.accounts.create(sub, 'sub-token');
      await store.accounts.addToken(ACCOUNT, 'newer', START_US + 1);
      expect(await store.signingTokens.tokensOf(asAccountId('SA_S'))).toEqual({
        own: 'sub-token',
        parent: 'newer',
      });
      expect(await store.signingTokens.tokensOf(asAccountId('MA_NONE'))).toBeUndefined();
    });

    it('forgets an idempotency key only while its request has no response', async () => {
      const { idempotency } = opened().store;
      await idempotency.begin(ACCOUNT, 'k', 'f');
      await idempotency.forget(ACCOUNT, 'k');
      expect(await idempotency.begin(ACCOUNT, 'k', 'f')).toEqual({ kind: 'first' });
      await idempotency.finish(ACCOUNT, 'k', '{"a":1}');
      await idempotency.forget(ACCOUNT, 'k');
      expect(await idempotency.begin(ACCOUNT, 'k', 'f')).toMatchObject({ kind: 'done' });
    });

    it('reports an idempotency key as first, running, done, or mismatch for a different request', async () => {
      const { idempotency } = opened().store;
      expect(await idempotency.begin(ACCOUNT, 'k', 'f')).toEqual({ kind: 'first' });
      expect(await idempotency.begin(ACCOUNT, 'k', 'f')).toEqual({ kind: 'running' });
      await idempotency.finish(ACCOUNT, 'k', '{"a":1}');
      expect(await idempotency.begin(ACCOUNT, 'k', 'f')).toEqual({
        kind: 'done',
        response: '{"a":1}',
      });
      expect(await idempotency.begin(ACCOUNT, 'k', 'g')).toEqual({ kind: 'mismatch' });
      const { clock } = opened();
      await clock.advance(86_400_001);
      expect(await idempotency.begin(ACCOUNT, 'k', 'g')).toEqual({ kind: 'first' });
      await clock.advance(1000);
      await idempotency.begin(ACCOUNT, 'later', 'f');
      expect(await idempotency.purge(wallUs(clock), 100)).toBe(1);
      expect(await idempotency.begin(ACCOUNT, 'later', 'f')).toEqual({ kind: 'running' });
    });
  });
}

function callContract(opened: () => Opened): void {
  describe('calls', () => {
    const fund = () => opened().store.ledger.balance(ACCOUNT, 'USD');

    it('reserves the money and stores the record in one transaction when a call opens', async () => {
      const { store } = opened();
      expect((await store.calls.open(anOpenCall(), undefined)).ok).toBe(true);
      expect((await fund())?.reservedFunds).toBe(65_000);
      expect(await store.calls.listOpen()).toHaveLength(1);
    });

    it('stores no open record of a refused call', async () => {
      const { store } = opened();
      const refused = await store.calls.open(
        anOpenCall({ reserved: micros(10_000_001) }),
        undefined,
      );
      expect(refused).toEqual({ ok: false, error: 'insufficientFunds' });
      expect(await store.calls.listOpen()).toEqual([]);
    });

    it('writes record, charge and notification and releases the reservation when a call is settled', async () => {
      const { store } = opened();
      await store.calls.open(anOpenCall(), undefined);
      await store.calls.settle(settlement());
      expect(await fund()).toMatchObject({ balance: 9_993_500, reservedFunds: 0 });
      expect((await store.cdrs.get(CALL))?.cdr).toEqual(aCdr());
      expect(await store.notifications.listPending(10)).toEqual([aNotification()]);
      expect(await store.calls.listOpen()).toEqual([]);
    });

    it('releases the reservation and stores no record when an open call is discarded', async () => {
      const { store } = opened();
      await store.calls.open(anOpenCall(), undefined);
      await store.calls.discard(anOpenCall());
      await store.calls.discard(anOpenCall());
      expect(await fund()).toMatchObject({ balance: 10_000_000, reservedFunds: 0 });
      expect(await store.calls.listOpen()).toEqual([]);
      expect(await store.cdrs.get(CALL)).toBeUndefined();
    });

    it('stores long texts with unusual characters from unauthenticated peers', async () => {
      const { store } = opened();
      // No repetition, so that the text cannot be compressed.
      const long = Array.from({ length: 900 }, (_, i) => (i * 7919).toString(36)).join('.');
      const cdr = aCdr({
        from: long,
        to: `${long}2`,
        sipCallId: long,
        callerName: 'a\u0000b\ud800',
      });
      await store.calls.settle({ cdr, entries: [], notification: undefined });
      const retained = (await store.cdrs.get(CALL))?.cdr;
      expect(retained).toMatchObject({ from: long, to: `${long}2`, sipCallId: long });
      expect(retained?.callerName).toMatch(/^a.b.$/su);
      const found = await store.cdrs.page(
        { accountId: ACCOUNT, fromNumber: long },
        { limit: 1, offset: 0 },
      );
      expect(found.total).toBe(1);
    });

    it('settles a call only once', async () => {
      const { store } = opened();
      await store.calls.open(anOpenCall(), undefined);
      await store.calls.settle(settlement());
      await store.notifications.remove('n-1');
      await store.calls.settle(settlement());
      expect((await fund())?.balance).toBe(9_993_500);
      expect(await store.notifications.listPending(10)).toEqual([]);
    });

    it('makes a record that was answered early visible to the next query', async () => {
      const { store } = opened();
      const refused = anOpenCall({ reserved: micros(10_000_001) });
      expect((await store.calls.openAhead(refused, undefined)).ok).toBe(false);
      expect((await store.calls.openAhead(anOpenCall(), undefined)).ok).toBe(true);
      expect((await fund())?.reservedFunds).toBe(65_000);
      await store.calls.update(anOpenCall({ heartbeatUs: START_US + 5 }));
      expect(await store.calls.listOpen()).toMatchObject([{ heartbeatUs: START_US + 5 }]);
      await store.calls.settle(settlement());
      expect(await fund()).toMatchObject({ balance: 9_993_500, reservedFunds: 0 });
      expect(await store.verify()).toEqual([]);
    });

    it('rejects the answer of a call without a record', async () => {
      await expect(opened().store.calls.update(anOpenCall())).rejects.toThrow(
        'no record of the call',
      );
    });

    it('does not reopen a call by an update after its end', async () => {
      const { store } = opened();
      await store.calls.open(anOpenCall(), undefined);
      await store.calls.settle(settlement());
      await store.calls.update(anOpenCall());
      expect(await store.calls.listOpen()).toEqual([]);
    });

    it('updates the heartbeat of the given calls only', async () => {
      const { store } = opened();
      const other = aCdr({ callUuid: asCallUuid('other') });
      await store.calls.open(anOpenCall(), undefined);
      await store.calls.open(anOpenCall({ cdr: other }), undefined);
      await store.calls.heartbeat([{ callUuid: CALL, atUs: START_US + 5 }]);
      const beats = (await store.calls.listOpen()).map((call) => call.heartbeatUs);
      expect(beats.sort()).toEqual([START_US, START_US + 5]);
    });

    it('limits a raised reservation of an open call to the funds', async () => {
      const { store } = opened();
      await store.calls.open(anOpenCall(), undefined);
      expect((await store.calls.extendReservation(CALL, micros(130_000))).ok).toBe(true);
      expect((await fund())?.reservedFunds).toBe(130_000);
      expect(await store.calls.extendReservation(CALL, micros(10_000_001))).toEqual({
        ok: false,
        error: 'insufficientFunds',
      });
    });

    it('returns notifications in the order in which they were stored', async () => {
      const { notifications } = opened().store;
      for (const id of ['c', 'a', 'b']) await notifications.put(aNotification({ id }));
      await notifications.recordAttempt('a', 2);
      const pending = await notifications.listPending(10);
      expect(pending.map(({ id, attempts }) => [id, attempts])).toEqual([
        ['c', 0],
        ['a', 2],
        ['b', 0],
      ]);
    });

    it('returns a JSON notification unchanged', async () => {
      const { notifications } = opened().store;
      const json = '{"event":"campaign.paused","reason":"window_closed","n":1.5,"name":"Zoë"}';
      await notifications.put(aNotification({ json, parameters: [] }));
      expect(await notifications.listPending(10)).toEqual([
        aNotification({ json, parameters: [] }),
      ]);
    });

    it('lists the notifications of one account without those of its campaigns', async () => {
      const { notifications } = opened().store;
      const other = { accountId: asAccountId('MA_OTHER'), subject: undefined };
      await notifications.put(aNotification({ id: 'a', accountId: ACCOUNT }));
      await notifications.put(aNotification({ id: 'b', accountId: asAccountId('MA_OTHER') }));
      await notifications.put(aNotification({ id: 'c', accountId: asAccountId('MA_OTHER') }));
      const pending = await notifications.listPending(10, other);
      expect(pending.map(({ id }) => id)).toEqual(['b', 'c']);
      expect(await notifications.listPending(1, other)).toHaveLength(1);
    });

    it('lists notifications by campaign and deletes them up to a given time', async () => {
      const { notifications } = opened().store;
      const of = { accountId: ACCOUNT, subject: 'k1' };
      const reported = { json: '{}', subject: 'k1', accountId: ACCOUNT };
      await notifications.put(aNotification({ ...reported, id: 'a', createdUs: 1 }));
      await notifications.put(aNotification({ ...reported, id: 'b', createdUs: 2 }));
      await notifications.put(aNotification({ ...reported, id: 'c', subject: 'k2', createdUs: 1 }));
      await notifications.put(aNotification({ id: 'd', accountId: ACCOUNT, createdUs: 1 }));
      const ids = async (whose: typeof of | { accountId: typeof ACCOUNT; subject: undefined }) =>
        (await notifications.listPending(10, whose)).map(({ id }) => id);
      expect(await ids(of)).toEqual(['a', 'b']);
      expect(await ids({ accountId: ACCOUNT, subject: undefined })).toEqual(['d']);
      expect(await notifications.removeUntil(of, 1)).toBe(1);
      expect((await notifications.listPending(10)).map(({ id }) => id)).toEqual(['b', 'c', 'd']);
    });

    it('lists records latest first, filtered and summed', async () => {
      const { store } = opened();
      for (const [index, from] of ['1415', '1416', '1415'].entries()) {
        const cdr = aCdr({ callUuid: asCallUuid(`c${index}`), from, startUs: START_US + index });
        await store.calls.settle({ cdr, entries: [], notification: undefined });
      }
      const filter = { accountId: ACCOUNT, fromNumber: '1415' };
      const page = await store.cdrs.page(filter, { limit: 1, offset: 0 });
      expect(page.total).toBe(2);
      for (const more of [{ fromNumber: '+1415' }, { search: '+1415' }, { search: '141' }]) {
        const same = await store.cdrs.page(
          { accountId: ACCOUNT, ...more },
          { limit: 9, offset: 0 },
        );
        expect([more, same.items.length >= 2]).toEqual([more, true]);
      }
      expect(page.items[0]?.cdr.callUuid).toBe('c2');
      expect(await store.cdrs.summary(filter)).toMatchObject({
        totalCalls: 2,
        answeredCalls: 2,
        totalCost: 13_000,
        lastCallUs: START_US + 2,
      });
      const walked = await store.cdrs.walk(filter, page.items[0]?.number, 10);
      expect(walked.map((record) => record.cdr.callUuid)).toEqual(['c0']);
    });
  });
}

const settlement = () => ({
  cdr: aCdr(),
  entries: [
    anEntry({
      type: 'debit',
      amount: micros(6_500),
      reference: `cdr:${CALL}`,
      referenceType: 'cdr',
    }),
  ],
  notification: aNotification(),
});
