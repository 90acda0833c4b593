import { afterEach, expect, it } from 'vitest';
import { ServiceError } from '../../../src/base/errors.ts';
import { ANSWER_URL, OWN_NUMBER, openStage, type Stage } from './stage.ts';

let stage: Stage;
afterEach(() => stage.close());

it('stores a change that was noted while the record was being opened', async () => {
  stage = await openStage();
  const { store, callBilling, clock } = stage;
  const opening = Promise.withResolvers<void>();
  const { openAhead, update } = store.calls;
  let updates = 0;
  Object.assign(store.calls, {
    openAhead: async (...given: Parameters<typeof openAhead>) => {
      await opening.promise;
      return openAhead(...given);
    },
    update: (...given: Parameters<typeof update>) => {
      updates += 1;
      return update(...given);
    },
  });
  const arriving = stage.arrives(OWN_NUMBER);
  const [call] = callBilling.live();
  if (call === undefined) throw new Error('no call');
  callBilling.noted(call);
  await clock.advance(2000);
  opening.resolve();
  await arriving;
  updates = 0;
  await clock.advance(2000);
  expect(updates).toBe(1);
});

it('reserves the pulses of a called party although the store could not write its answer', async () => {
  stage = await openStage();
  const { store, clock, ledger, account } = stage;
  const { update } = store.calls;
  stage.customer.documents.set(
    ANSWER_URL,
    `<Response><Dial callerId="${OWN_NUMBER}"><Number>14155550199</Number></Dial></Response>`,
  );
  await stage.placed();
  await stage.signalling.last.answers();
  const full = new ServiceError('STORE_FULL', 'full');
  Object.assign(store.calls, { update: () => Promise.reject(full) });
  await stage.signalling.last.answers();
  await clock.advance(10_000);
  Object.assign(store.calls, { update });
  await clock.advance(180_000);
  // Both legs are in their fourth minute.
  const balance = await ledger.balance(account.authId, 'USD');
  expect(balance).toMatchObject({ value: { reservedFunds: 2 * 4 * 60_000 } });
});
