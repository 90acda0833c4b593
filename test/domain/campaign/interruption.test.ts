/** Calls that the service cut off: refused for the campaign. They do not count as attempts or failures. */
import { expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import { micros } from '../../../src/base/money.ts';
import { endOf } from '../../../src/domain/campaign/placing.ts';
import { INTERRUPTED, recoverOpenCalls } from '../../../src/domain/cdr/cdr.ts';
import type { Cdr } from '../../../src/domain/cdr/types.ts';
import { openAt, withFolder } from '../../edge/store/open.ts';
import { aCdr, anAccount, anOpenCall } from '../../edge/store/records.ts';

const ringing: Partial<Cdr> = { answerUs: undefined, cost: micros(0), billedMs: 0 };

it.each([
  ['a stop', { failureReason: INTERRUPTED.stop, hangupSource: 'Carillon' }, 'unavailable'],
  ['a crash', { failureReason: INTERRUPTED.crash, hangupSource: 'Error' }, 'unavailable'],
  ['a takeover', { failureReason: INTERRUPTED.takenOver, hangupSource: 'Error' }, 'unavailable'],
  ['the callee, in the same words', { failureReason: INTERRUPTED.stop, hangupSource: 'Callee' }],
  ['the carrier, in the same words', { failureReason: INTERRUPTED.stop, hangupSource: 'Carrier' }],
  ['a crash after the answer', { failureReason: INTERRUPTED.crash, answerUs: 1 }],
  ['a failure', { failureReason: 'no route', hangupSource: 'Error' }],
] as const)('evaluates a call cut off by %s', (_, end, refused?: string) => {
  expect(endOf(aCdr({ ...ringing, ...end })).refused).toBe(refused);
});

it('treats the record written by crash recovery as interrupted', async () => {
  await withFolder(async (folder) => {
    const before = await openAt(folder);
    await before.store.accounts.create(anAccount(), 'token');
    const cdr = aCdr({ ...ringing, failureReason: undefined });
    const opened = await before.store.calls.open(
      anOpenCall({ cdr, reserved: micros(0) }),
      undefined,
    );
    expect(opened.ok).toBe(true);
    await before.store.close();
    const { store } = await openAt(folder);
    const [recovered] = await recoverOpenCalls(store.calls, silentLogger);
    expect(recovered && endOf(recovered).refused).toBe('unavailable');
    await store.close();
  });
});
