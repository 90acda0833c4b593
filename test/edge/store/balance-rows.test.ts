/** Tests that cached balances and entry numbers of the writing connection match the file after any rollback. */
import { describe, expect, it } from 'vitest';
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
