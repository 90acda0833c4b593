/** Tests that cached balances and entry numbers of the writing connection match the file after any rollback. */
import { describe, expect, it } from 'vitest';
import { BalanceRows } from '../../../src/edge/store/balance-rows.ts';
import { Engine } from '../../../src/edge/store/engine.ts';
import type { Unit } from '../../../src/edge/store/unit.ts';
import { ephemeralKey } from '../../../src/edge/store/vault.ts';
import { seededRandom } from './open.ts';
import { anAccount, anEntry, START_US } from './records.ts';

const ACCOUNT = anAccount().authId;
const CREDIT = anEntry().amount;

const unit = (operation: string, ...given: unknown[]): Unit => ({
  repository: 'ledger',
  operation,
  given,
  nowUs: START_US,
});
const posted = (over: object = {}, checked = false): Unit =>
  unit('post', [{ ...anEntry(), ...over }], { checked });
const broken = unit('post', [anEntry(), { ...anEntry(), amount: -1 }], { checked: false });
const reserved = (reservationId: string, amount: number): Unit =>
  unit('reserve', { reservationId, accountId: ACCOUNT, currency: 'USD', amount });

function setUp() {
  const engine = new Engine({
    file: ':memory:',
    role: 'writer',
    synchronous: 'normal',
    checkpoints: 'here',
    key: ephemeralKey(),
    random: seededRandom(),
  });
  const create = { ...unit('create', anAccount(), 'token'), repository: 'accounts' };
  engine.run([create, posted()]);
  const answer = (one: Unit): unknown => {
    const [outcome] = engine.run([one]);
    return outcome?.ok === true ? outcome.value : outcome;
  };
  return { engine, answer };
}

describe('cached balance rows of the writing connection', () => {
  it('match the file after units of a batch were rolled back', () => {
    const { engine, answer } = setUp();
    const before = { balance: CREDIT, reservedFunds: 0 };
    expect(answer(unit('balance', ACCOUNT, 'USD'))).toMatchObject(before);
    const outcomes = engine.run([reserved('a', 10), broken, posted(), broken, reserved('b', 20)]);
    expect(outcomes.map(({ ok }) => ok)).toEqual([true, false, true, false, true]);
    const after = { balance: 2 * CREDIT, reservedFunds: 30 };
    expect(answer(unit('balance', ACCOUNT, 'USD'))).toMatchObject(after);
    expect(answer(unit('verify'))).toEqual([]);
    expect(answer(broken)).toMatchObject({ ok: false });
    expect(answer(unit('balance', ACCOUNT, 'USD'))).toMatchObject(after);
    engine.run([unit('release', 'a', [anEntry()])]);
    expect(answer(unit('verify'))).toEqual([]);
    engine.close();
  });

  it('are written before a read of the same batch', () => {
    const { engine } = setUp();
    const [, read, , again, walked] = engine.run([
      posted(),
      unit('balances', ACCOUNT),
      reserved('a', 10),
      unit('balances', ACCOUNT),
      unit('walk', { accountId: ACCOUNT }, undefined, 10),
    ]);
    expect(walked).toMatchObject({ value: [{ seq: 2 }, { seq: 1 }] });
    expect(read).toMatchObject({ value: [{ balance: 2 * CREDIT, reservedFunds: 0 }] });
    expect(again).toMatchObject({ value: [{ balance: 2 * CREDIT, reservedFunds: 10 }] });
    engine.close();
  });

  it('reload a row that was changed by SQL', () => {
    const { engine, answer } = setUp();
    engine.run([
      reserved('a', 10),
      unit('patchBalance', ACCOUNT, 'USD', { creditLimit: 500 }),
      reserved('b', 10),
    ]);
    const expected = { creditLimit: 500, reservedFunds: 20 };
    expect(answer(unit('balance', ACCOUNT, 'USD'))).toMatchObject(expected);
    expect(answer(unit('balances', ACCOUNT))).toMatchObject([expected]);
    expect(answer(unit('verify'))).toEqual([]);
    engine.close();
  });

  it('leave no gap in the entry numbers after a repeated or rolled-back entry', () => {
    const { engine, answer } = setUp();
    const once = { reference: 'call:1', type: 'debit' };
    const first = answer(posted(once));
    expect(answer(posted(once))).toEqual(first);
    expect(answer(posted(once, true))).toEqual(first);
    engine.run([broken, posted()]);
    expect(answer(posted({ key: 'k' }))).toEqual(answer(posted({ key: 'k' })));
    const walked = answer(unit('walk', { accountId: ACCOUNT }, undefined, 10)) as { seq: number }[];
    expect(walked.map(({ seq }) => seq)).toEqual([4, 3, 2, 1]);
    expect(answer(unit('verify'))).toEqual([]);
    engine.close();
  });
});

describe('the cache of balance rows', () => {
  const row = (id: string, balance = 0) => ({
    id,
    account_id: `account ${id}`,
    currency: 'USD',
    balance,
  });
  const others = (rows: BalanceRows): void => {
    for (let n = 0; n < 1200; n += 1) rows.keep(row(String(n)));
  };

  it('returns each change once', () => {
    const rows = new BalanceRows();
    rows.keep(row('a'));
    rows.change(row('a', 1));
    rows.change(row('a', 2));
    rows.change(row('b', 3));
    expect(rows.byOwner('account a', 'USD')).toEqual(row('a', 2));
    expect(rows.takeChanged()).toEqual([row('a', 2), row('b', 3)]);
    expect(rows.takeChanged()).toEqual([]);
    expect(rows.takeTouched()).toEqual(['a', 'b']);
    expect(rows.takeTouched()).toEqual([]);
    expect(rows.byId('a')).toEqual(row('a', 2));
  });

  it('keeps changes beyond its limit until they are written and the unit of work ends', () => {
    const rows = new BalanceRows();
    rows.change(row('a', 1));
    others(rows);
    expect(rows.takeChanged()).toEqual([row('a', 1)]);
    others(rows);
    expect(rows.takeTouched()).toEqual(['a']);
    others(rows);
    expect(rows.byId('a')).toBeUndefined();
  });

  it('drops a row that was changed elsewhere, which counts as a change of the unit of work', () => {
    const rows = new BalanceRows();
    rows.keep(row('a'));
    rows.changedElsewhere('a');
    expect([rows.byId('a'), rows.byOwner('account a', 'USD')]).toEqual([undefined, undefined]);
    expect([rows.takeTouched(), rows.takeChanged()]).toEqual([['a'], []]);
  });
});
