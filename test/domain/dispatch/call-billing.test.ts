import { afterEach, expect, it } from 'vitest';
import { OWN_NUMBER, openStage, type Stage } from './stage.ts';

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
