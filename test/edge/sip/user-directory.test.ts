import { expect, it } from 'vitest';
import { ServiceError } from '../../../src/base/errors.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import type { Binding } from '../../../src/domain/registration/types.ts';
import { UserDirectory } from '../../../src/edge/sip/user-directory.ts';

const bob = { username: 'bob', contactUri: 'sip:bob@192.0.2.1' } as Binding;
const carol = { username: 'carol', contactUri: 'sip:carol@192.0.2.2' } as Binding;

/** A store whose writes end when the test says so. */
function stage() {
  const writes: { readonly what: string; readonly end: (works: boolean) => void }[] = [];
  const write = (what: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const end = (works: boolean): void => {
        if (works) resolve();
        else reject(new ServiceError('CLUSTER_UNAVAILABLE', 'no connection'));
      };
      writes.push({ what, end });
    });
  const directory = new UserDirectory(
    { byUsername: () => Promise.resolve(undefined) },
    {
      save: ({ username }) => write(`save ${username}`),
      remove: (username) => write(`remove ${username}`),
      listAll: () => Promise.resolve([]),
    },
    silentLogger,
    () => undefined,
  );
  const store = (save: readonly Binding[], remove: readonly Binding[]): void =>
    directory.store({ kind: 'store', id: undefined, save, remove });
  const end = async (what: string, works: boolean): Promise<void> => {
    const at = writes.findIndex((one) => one.what === what);
    writes.splice(at, 1)[0]?.end(works);
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  };
  return { store, end, pending: () => writes.map(({ what }) => what) };
}

it('repeats a failed write with the next one', async () => {
  const { store, end, pending } = stage();
  store([bob], []);
  await end('save bob', false);
  store([carol], []);
  expect(pending()).toEqual(['save bob', 'save carol']);
});

it('does not repeat a write that fails after a newer one of the same contact has begun', async () => {
  const { store, end, pending } = stage();
  store([bob], []);
  store([], [bob]);
  await end('remove bob', true);
  await end('save bob', false);
  store([carol], []);
  expect(pending()).toEqual(['save carol']);
});

it('repeats the newer of two failed writes', async () => {
  const { store, end, pending } = stage();
  store([bob], []);
  store([], [bob]);
  await end('remove bob', false);
  await end('save bob', false);
  store([carol], []);
  expect(pending()).toEqual(['remove bob', 'save carol']);
});
