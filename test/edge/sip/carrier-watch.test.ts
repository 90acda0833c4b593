/** Carrier state from OPTIONS and calls, in virtual time. */
import { describe, expect, it } from 'vitest';
import type { LegEnd, OutboundLegEvents } from '../../../src/domain/call/needs.ts';
import type { Carrier } from '../../../src/domain/provisioning/types.ts';
import { CarrierWatch } from '../../../src/edge/sip/carrier-watch.ts';
import type { UserAgentInput } from '../../../src/protocol/sip/sip.ts';
import { SimClock } from '../../sim/clock.ts';
import { carrier } from './rig.ts';

const NORTH = { kind: 'carrier', carrier: 'north', number: '1' } as const;

function setup(...more: Partial<Carrier>[]) {
  const clock = new SimClock();
  const probes: Extract<UserAgentInput, { kind: 'probe' }>[] = [];
  const reported: UserAgentInput[] = [];
  const carriers = (more.length === 0 ? [{}] : more).map((one) => carrier(one));
  const watch = new CarrierWatch(
    () => carriers,
    clock,
    (input) => {
      reported.push(input);
      if (input.kind === 'probe') probes.push(input);
    },
  );
  watch.start();
  const probed = (status: number | undefined): void => {
    watch.probed({ kind: 'probed', id: probes.at(-1)?.id ?? 0, status });
  };
  const call = (target: Parameters<CarrierWatch['watching']>[0] = NORTH) => {
    const received = { heardFrom: () => undefined, ended: () => undefined };
    const events = watch.watching(target, received as unknown as OutboundLegEvents);
    return {
      answers: () =>
        events.heardFrom({
          source: { transport: 'udp', address: '192.0.2.1', port: 5060 },
          userAgent: undefined,
          isOfferedIpv6: false,
        }),
      ends: (end: Partial<LegEnd>) =>
        events.ended({ by: 'remote', how: 'refused', status: 503, reason: undefined, ...end }),
    };
  };
  return { clock, carriers, reported, probes, watch, probed, call };
}

describe('a carrier that we register with', () => {
  const auth = { username: 'u', password: 'p', register: true };

  it('is registered within 2 s after it was added, again after a change, and unregistered when removed or disabled', async () => {
    const { clock, carriers, reported } = setup();
    reported.length = 0;
    carriers.push(carrier({ name: 'south', auth }));
    await clock.advance(1_999);
    expect(reported).toMatchObject([
      { kind: 'register', aor: 'sip:u@127.0.0.1', account: auth },
      { kind: 'probe' },
    ]);
    reported.length = 0;
    carriers[1] = carrier({ name: 'south', auth: { ...auth, password: 'q' } });
    await clock.advance(1_999);
    expect(reported).toMatchObject([
      { kind: 'unregister' },
      { kind: 'register', account: { password: 'q' } },
      { kind: 'probe' },
    ]);
    reported.length = 0;
    carriers[1] = carrier({ name: 'south', auth, enabled: false });
    await clock.advance(1_999);
    expect(reported).toMatchObject([{ kind: 'unregister' }]);
    reported.length = 0;
    carriers[1] = carrier({ name: 'south', auth });
    await clock.advance(1_999);
    carriers.pop();
    await clock.advance(1_999);
    expect(reported.map(({ kind }) => kind)).toEqual(['register', 'probe', 'unregister']);
  });
});

describe('a carrier', () => {
  it('is probed with OPTIONS every 30 s and is down without a response', async () => {
    const { clock, probes, watch, probed } = setup();
    expect(probes).toMatchObject([{ waitMs: 4000 }]);
    probed(200);
    await clock.advance(29_000);
    expect(probes).toHaveLength(1);
    await clock.advance(1_000);
    expect(probes).toHaveLength(2);
    probed(undefined);
    expect(watch.isDown(NORTH)).toBe(true);
    await clock.advance(30_000);
    expect(probes).toHaveLength(3);
    probed(405);
    expect(watch.isDown(NORTH)).toBe(false);
  });

  it('without a response to INVITE is down immediately, and up again after the next OPTIONS', async () => {
    const { clock, watch, probed, call } = setup();
    probed(200);
    call().ends({ how: 'timeout', status: undefined });
    expect(watch.isDown(NORTH)).toBe(true);
    await clock.advance(5_000);
    probed(200);
    expect(watch.isDown(NORTH)).toBe(false);
  });

  it('that responds only to OPTIONS rests longer with each failed INVITE', async () => {
    const { clock, watch, probed, call } = setup();
    for (const restMs of [0, 60_000, 120_000, 240_000, 300_000, 300_000]) {
      call().ends({ how: 'timeout', status: undefined });
      expect(watch.isDown(NORTH)).toBe(true);
      probed(200);
      await clock.advance(Math.max(0, restMs - 1));
      expect(watch.isDown(NORTH)).toBe(restMs > 0);
      await clock.advance(1);
      expect(watch.isDown(NORTH)).toBe(false);
    }
    call().answers();
    call().ends({ how: 'transport', status: undefined });
    probed(200);
    expect(watch.isDown(NORTH)).toBe(false);
  });

  it('rests for its Retry-After, at most ten minutes, regardless of later responses', async () => {
    const { clock, watch, call } = setup();
    call().ends({ retryAfterMs: 20_000 });
    call().answers();
    expect(watch.isDown(NORTH)).toBe(true);
    await clock.advance(20_000);
    expect(watch.isDown(NORTH)).toBe(false);
    call().ends({ retryAfterMs: 10 ** 9 });
    await clock.advance(600_000);
    expect(watch.isDown(NORTH)).toBe(false);
    call().ends({});
    expect(watch.isDown(NORTH)).toBe(false);
  });

  it('that responds to INVITE but not to OPTIONS is not down', () => {
    const { watch, probed, call } = setup();
    probed(undefined);
    call().answers();
    expect(watch.isDown(NORTH)).toBe(false);
  });

  it('is not probed if its policy disables it', () => {
    expect(setup({ policy: { probe: false } }).probes).toEqual([]);
  });
});

describe('an address of a customer', () => {
  it('is tracked by host and port; a phone is not', async () => {
    const { clock, watch, call } = setup();
    const uri = (user: string) => ({ kind: 'uri', uri: `sip:${user}@pbx.test:5080` }) as const;
    call(uri('1')).ends({ how: 'timeout', status: undefined });
    expect(watch.isDown(uri('2'))).toBe(true);
    expect(watch.isDown({ kind: 'uri', uri: 'sip:1@pbx.test' })).toBe(false);
    await clock.advance(30_000);
    expect(watch.isDown(uri('2'))).toBe(false);
    const phone = { kind: 'endpoint', username: 'alice' } as const;
    call(phone).ends({ how: 'timeout', status: undefined });
    expect(watch.isDown(phone)).toBe(false);
  });
});
