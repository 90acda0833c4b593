/** Failover and redirection: the next target after each kind of failure. */

import { describe, expect, it } from 'vitest';
import { asCallUuid } from '../../../src/base/ids.ts';
import type {
  LegEnd,
  OutboundLegEvents,
  OutboundTarget,
  Signalling,
} from '../../../src/domain/call/needs.ts';
import { tryTargets } from '../../../src/domain/call/target-selection.ts';
import { settle } from '../../sim/clock.ts';

const carrier = (name: string, policy: object = {}): OutboundTarget => ({
  kind: 'carrier',
  carrier: name,
  number: '1',
  ...policy,
});

/** Ends each attempt as listed, and returns the targets that were tried. */
async function hunt(
  targets: readonly OutboundTarget[],
  ends: ReadonlyArray<Partial<LegEnd>>,
  { rings = false } = {},
) {
  const tried: string[] = [];
  const reported: LegEnd[] = [];
  const left = [...ends];
  const invited: OutboundTarget[] = [];
  const logins: Array<string | undefined> = [];
  let events: OutboundLegEvents | undefined;
  const signalling: Signalling = {
    invite: (target, { auth }, attached) => {
      logins.push(auth?.username);
      tried.push(
        target.kind === 'carrier' ? target.carrier : target.kind === 'uri' ? target.uri : '',
      );
      invited.push(target);
      events = attached;
      return { id: '1', sipCallId: '1', hangup: () => undefined };
    },
    onInbound: () => undefined,
    isRegistered: () => true,
    isSecured: () => false,
    isBrowser: () => false,
    isDown: () => false,
  };
  const selector = {
    owner: { uuid: asCallUuid('a'), parent: undefined },
    events: { ended: (end: LegEnd) => reported.push(end) } as unknown as OutboundLegEvents,
    signal: new AbortController().signal,
    offer: () => Promise.resolve({ sdp: 'v=0' }),
    trying: () => undefined,
    noSlot: () => undefined,
    took: () => undefined,
    mayForward: (redirected: boolean) => redirected || !rings,
    wentOn: () => undefined,
  };
  const auth = { username: 'trunk', password: 'secret' };
  const plan = { targets, from: { user: '1', displayName: '' }, headers: [], auth };
  await tryTargets(signalling, plan, selector);
  for (let end = left.shift(); end !== undefined; end = left.shift()) {
    events?.ended({ by: 'remote', how: 'refused', status: undefined, reason: undefined, ...end });
    await settle();
  }
  return { tried, reported, invited, logins };
}

describe('failover', () => {
  const two = [carrier('a'), carrier('b')];

  it.each([
    [{ how: 'timeout' }],
    [{ how: 'transport' }],
    [{ how: 'unreachable' }],
    [{ status: 503 }],
    [{ status: 500 }],
    [{ status: 599 }],
    [{ status: 401 }],
    [{ status: 403 }],
    [{ status: 407 }],
    [{ status: 408 }],
  ] as const)('tries the next carrier after %o', async (end) => {
    expect((await hunt(two, [end])).tried).toEqual(['a', 'b']);
  });

  it.each([404, 480, 486, 487, 488, 600, 603, 604])(
    'does not happen after %d, which comes from the called party',
    async (status) => {
      const { tried, reported } = await hunt(two, [{ status }]);
      expect(tried).toEqual(['a']);
      expect(reported).toMatchObject([{ status }]);
    },
  );

  it("uses the carrier's failoverOn list", async () => {
    const own = [carrier('a', { failoverOn: ['404', '6xx'] }), carrier('b')];
    expect((await hunt(own, [{ status: 404 }])).tried).toEqual(['a', 'b']);
    expect((await hunt(own, [{ status: 603 }])).tried).toEqual(['a', 'b']);
    expect((await hunt(own, [{ status: 503 }])).tried).toEqual(['a']);
    // A network failure always allows failover, regardless of the list.
    expect((await hunt(own, [{ how: 'timeout' }])).tried).toEqual(['a', 'b']);
  });

  it('does not happen after ringing', async () => {
    expect((await hunt(two, [{ status: 503 }], { rings: true })).tried).toEqual(['a']);
  });
});

describe('redirection', () => {
  const moved = (...contacts: string[]) => ({ status: 302, contacts });

  it('tries the contacts of a 302, best first, then the next carrier', async () => {
    const { tried, invited } = await hunt(
      [carrier('a'), carrier('b')],
      [moved('sip:x@one.test', 'sip:x@two.test'), { status: 503 }, { how: 'notAllowed' }],
    );
    expect(tried).toEqual(['a', 'sip:x@one.test', 'sip:x@two.test', 'b']);
    expect(invited[1]).toMatchObject({ kind: 'uri', redirectedBy: 'a' });
  });

  it('takes no password to a contact that a peer named', async () => {
    const trunk: OutboundTarget = { kind: 'uri', uri: 'sip:x@trunk.test' };
    const ends = [moved('sip:x@one.test'), { status: 503 }];
    const { tried, logins } = await hunt([trunk, carrier('b')], ends);
    expect(tried).toEqual(['sip:x@trunk.test', 'sip:x@one.test', 'b']);
    expect(logins).toEqual(['trunk', undefined, 'trunk']);
  });

  it('is followed even after ringing, as with call forwarding on no answer', async () => {
    const { tried } = await hunt([carrier('a')], [moved('sip:x@one.test')], { rings: true });
    expect(tried).toEqual(['a', 'sip:x@one.test']);
  });

  it('tries each contact once, up to a limit', async () => {
    const loop = await hunt([carrier('a')], [moved('sip:x@a'), moved('sip:x@a')]);
    expect(loop.tried).toEqual(['a', 'sip:x@a']);
    expect(loop.reported).toMatchObject([{ status: 302 }]);
    const chain = await hunt(
      [carrier('a')],
      [moved('sip:1@x'), moved('sip:2@x'), moved('sip:3@x'), moved('sip:4@x')],
    );
    expect(chain.tried).toEqual(['a', 'sip:1@x', 'sip:2@x', 'sip:3@x']);
    const none = await hunt([carrier('a', { maxRedirects: 0 })], [moved('sip:1@x')]);
    expect(none.tried).toEqual(['a']);
  });
});
