import { storeContract } from '../../contract/store-contract.ts';
import { openAt, openInMemory, withFolder } from './open.ts';

storeContract('SQLite in memory', async () => {
  const { store, clock } = await openInMemory();
  return { store, clock, dispose: () => store.close() };
});

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
