import { campaignContract } from '../../contract/campaign-contract.ts';
import { entryListContract } from '../../contract/entry-list-contract.ts';
import { statementsContract } from '../../contract/statements-contract.ts';
import { type Opened, storeContract } from '../../contract/store-contract.ts';
import { openAt, openInMemory, withFolder } from './open.ts';

const inMemory = async (): Promise<Opened> => {
  const { store, clock } = await openInMemory();
  return { store, clock, dispose: () => store.close() };
};

storeContract('SQLite in memory', inMemory);
entryListContract('SQLite in memory', inMemory, 25);
campaignContract('SQLite in memory', inMemory);
statementsContract('SQLite in memory', inMemory);

storeContract('SQLite on disk, on its threads', async () => {
  let removeFolder = (): void => undefined;
  const folderIsGone = new Promise<void>((resolve) => {
    removeFolder = resolve;
  });
  let folder = '';
  const removed = withFolder(async (path) => {
    folder = path;
    await folderIsGone;
  });
  const { store, clock } = await openAt(folder);
  return {
    store,
    clock,
    dispose: async () => {
      await store.close();
      removeFolder();
      await removed;
    },
  };
});
