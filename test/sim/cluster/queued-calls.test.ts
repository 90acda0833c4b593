/** Queued destinations of a node that another node declared dead. */
import { expect, it } from 'vitest';
import { request } from '../../domain/dispatch/participants.ts';
import { SITE, xml } from '../customer.ts';
import { ClusterWorld, FAR, OWN_NUMBER } from './world.ts';

/** A seed with three simultaneous calls of the account. */
const SEED = 1;
const target = (path: string) => ({ url: `${SITE}${path}`, method: 'POST' }) as const;

it('are ended once, by the node that took over, and never dialled', async () => {
  const world = await ClusterWorld.open(SEED);
  try {
    const { accountId } = world.account;
    world.customer.on('/answer', () => xml('<Wait length="600"/>'));
    for (const path of ['/hangup', '/ring']) world.customer.on(path, () => 200);
    await world.advance(5000);
    const [node] = world.serving;
    if (node === undefined) throw new Error('no node serves');
    const { control, signalling } = node.process;
    const numbers = [...FAR, ...FAR];
    const placed = await world.now(
      control.placeCalls({
        ...request({ authId: accountId }, numbers),
        from: OWN_NUMBER,
        answer: target('/answer'),
        ring: target('/ring'),
        hangup: target('/hangup'),
      }),
    );
    expect(placed).toMatchObject({ ok: true });
    await world.advance(2000);
    expect(signalling.legs).toHaveLength(3);
    node.stand();
    await world.advance(15_000);
    node.goOn();
    await world.advance(20_000);
    const { items } = await world.database.store.cdrs.page({ accountId }, { limit: 10, offset: 0 });
    const undialled = items.filter(({ cdr }) => cdr.hangupCauseCode === 1020);
    expect([items.length, undialled.length]).toEqual([6, 3]);
    expect(signalling.legs).toHaveLength(3);
    expect(await world.now(control.liveCalls(accountId, 'queued'))).toEqual([]);
  } finally {
    await world.close();
  }
});
