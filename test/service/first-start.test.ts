import { expect, it } from 'vitest';
import { openInMemory } from '../edge/store/open.ts';
import { expectFirstStartPerStore, expectRepairedFile } from '../first-starts.ts';

it('creates the first account again in another store', async () => {
  expect.hasAssertions();
  const [one, other] = [(await openInMemory()).store, (await openInMemory()).store];
  await expectFirstStartPerStore(one, other);
  await Promise.all([one.close(), other.close()]);
});

it('writes a damaged file of the first account again', async () => {
  expect.hasAssertions();
  const { store } = await openInMemory();
  await expectRepairedFile(store);
  await store.close();
});
