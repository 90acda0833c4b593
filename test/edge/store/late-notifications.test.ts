/** Notifications that an earlier process of a node left on its disk. */
import { expect, it } from 'vitest';
import { asCallUuid } from '../../../src/base/ids.ts';
import { openAt, withFolder } from './open.ts';
import { aCdr, aNotification, anAccount } from './records.ts';

it('are not sent after the hangup that another node has reported', () =>
  withFolder(async (folder) => {
    const { store } = await openAt(folder);
    await store.accounts.create(anAccount(), 'token');
    const ended = asCallUuid('c-ended');
    await store.calls.settle({
      cdr: aCdr({ callUuid: ended }),
      entries: [],
      notification: undefined,
    });
    const dead = { id: 'n1', epoch: await store.nodes.begin('n1', false) };
    const living = { id: 'n2', epoch: await store.nodes.begin('n2', false) };
    const [one] = (await store.nodes.list()).filter(({ id }) => id === dead.id);
    expect(one && (await store.nodes.fence(one))).toBe(true);
    const put = (id: string, subject: string, by: typeof dead) =>
      store.notifications.put(aNotification({ id, subject }), by);
    await put('ring-of-ended', ended, dead);
    await put('ring-of-open', 'c-open', dead);
    await put('of-living', ended, living);
    const node = store.as(living);
    await node.notifications.adopt();
    const pending = await node.notifications.listPending(10);
    expect(pending.map(({ id }) => id)).toEqual(['ring-of-open', 'of-living']);
    await store.close();
  }));
