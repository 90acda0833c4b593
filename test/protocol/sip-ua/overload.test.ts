/** New calls during overload: their responses, and requests that are served normally. */
import { beforeEach, describe, expect, it } from 'vitest';
import { asLegId } from '../../../src/base/ids.ts';
import type { Arrival } from '../../../src/protocol/sip/transaction/stateless.ts';
import { inviteCommand } from './script.ts';
import { OFFER, REALM, World } from './world.ts';

const SERVER = '192.0.2.1';
const PEER = '192.0.2.9';
const CARRIER = '192.0.2.10';

let world: World;
let isOpen: boolean;
let begun: number;
let requested: Arrival[];
beforeEach(() => {
  world = new World();
  isOpen = true;
  begun = 0;
  requested = [];
});

function setup() {
  const server = world.agent(SERVER, {
    realm: REALM,
    trustedSource: ({ remoteAddress }) => (remoteAddress === CARRIER ? 'carrier' : undefined),
    newCalls: {
      mayBegin: (asking) => {
        requested.push(asking);
        return isOpen;
      },
      begin: () => {
        begun += 1;
      },
    },
  });
  const hear = (text: string, from = CARRIER, asking: Partial<Arrival> = {}) =>
    server.ua
      .handle(
        {
          kind: 'received',
          bytes: Buffer.from(text),
          flow: {
            transport: 'udp',
            localAddress: SERVER,
            localPort: 5060,
            remoteAddress: from,
            remotePort: 5060,
            connectionId: undefined,
          },
          ...asking,
        },
        world.nowMs,
      )
      .flatMap((output) => (output.kind === 'send' ? [output] : []));
  const statuses = (text: string, from = CARRIER): unknown[] =>
    hear(text, from).map(({ message }) => (message.kind === 'response' ? message.status : 0));
  return { server, hear, statuses };
}

const request = (method: string, call = 'c1', toTag = ''): string =>
  [
    `${method} sip:100@${SERVER} SIP/2.0`,
    `Via: SIP/2.0/UDP ${CARRIER};branch=z9hG4bK${call}${method}`,
    'Max-Forwards: 70',
    `From: <sip:alice@${SERVER}>;tag=peer`,
    `To: <sip:100@${SERVER}>${toTag}`,
    `Call-ID: ${call}`,
    `CSeq: 1 ${method}`,
    `Contact: <sip:alice@${CARRIER}>`,
    ...(method === 'INVITE' ? ['Content-Type: application/sdp'] : []),
    '',
    method === 'INVITE' ? OFFER : '',
  ].join('\r\n');

describe('a new call that may not start', () => {
  it('gets 503 with Retry-After; only the refusal is kept', () => {
    const { server, hear } = setup();
    isOpen = false;
    const [refused, ...more] = hear(request('INVITE'));
    expect(more).toEqual([]);
    expect(refused?.message).toMatchObject({ status: 503 });
    const seconds = Number(refused?.message.header('Retry-After'));
    expect(seconds).toBeGreaterThanOrEqual(5);
    expect(seconds).toBeLessThanOrEqual(15);
    expect(server.ua.transactions).toBe(0);
    expect(begun).toBe(0);
  });

  it('gets the same response when retransmitted, even if calls may start by then', () => {
    const { hear, statuses } = setup();
    isOpen = false;
    const first = hear(request('INVITE'))[0]?.bytes;
    isOpen = true;
    world.advance(16_000);
    expect(hear(request('INVITE'))[0]?.bytes).toEqual(first);
    expect(statuses(request('INVITE', 'c2'))).toEqual([100]);
    world.advance(32_000);
    expect(statuses(request('INVITE'))).toEqual([100]);
  });

  it('sends an ACK that is ignored without a fault', () => {
    const { statuses } = setup();
    isOpen = false;
    statuses(request('INVITE'));
    expect(statuses(request('ACK', 'c1', ';tag=x'))).toEqual([]);
  });

  it('gets a different Retry-After for each caller', () => {
    const { hear } = setup();
    isOpen = false;
    const times = Array.from({ length: 50 }, (_, n) =>
      hear(request('INVITE', `call-${n}`))[0]?.message.header('Retry-After'),
    );
    expect(new Set(times).size).toBeGreaterThan(5);
  });
});

describe('other requests during overload', () => {
  it('are answered normally', () => {
    const { statuses } = setup();
    isOpen = false;
    expect(statuses(request('REGISTER'))).toEqual([401]);
    expect(statuses(request('OPTIONS'))).toEqual([200]);
    expect(requested).toEqual([]);
  });

  it('INVITEs of a started call reach it', () => {
    const { statuses } = setup();
    expect(statuses(request('INVITE'))).toEqual([100]);
    isOpen = false;
    expect(statuses(request('INVITE'))).toEqual([100]);
    expect(statuses(request('CANCEL').replace('CANCEL;', 'INVITE;'))).not.toContain(503);
    expect(begun).toBe(1);
  });

  it('an active call ends normally', () => {
    const { server } = setup();
    const carrier = world.agent(CARRIER);
    carrier.dispatch(
      inviteCommand({
        target: { kind: 'uri', uri: `sip:100@${SERVER}` },
        from: { user: 'a', host: CARRIER, displayName: '' },
        callId: 'running',
      }),
    );
    world.dns.set(SERVER, [{ transport: 'udp', address: SERVER, port: 5060 }]);
    world.advance(50);
    server.dispatch({ kind: 'answer', leg: server.last('incoming').call.leg, sdp: OFFER });
    world.advance(50);
    isOpen = false;
    carrier.dispatch({ kind: 'hangup', leg: asLegId(2), status: 486, reason: undefined });
    world.advance(50);
    expect(world.ladder().slice(-2)).toEqual(['BYE', '200 BYE']);
  });
});

it('counts a call as started when it gets a transaction; challenged requests do not count', () => {
  const { statuses } = setup();
  expect(statuses(request('INVITE'), PEER)).toEqual([401]);
  expect(begun).toBe(0);
  expect(statuses(request('INVITE', 'c2'))).toEqual([100]);
  expect(begun).toBe(1);
});

it('the gate receives the waiting time, whether it exceeds the limit, and whether the peer is known', () => {
  const { hear } = setup();
  hear(request('INVITE'), CARRIER, { waitedMs: 70, isKnown: true });
  hear(request('INVITE', 'c2'), PEER);
  hear(request('INVITE', 'c3'), CARRIER, { isTooMany: true });
  expect(requested).toEqual([
    { waitedMs: 70, isKnown: true, isTooMany: false },
    { waitedMs: 0, isKnown: false, isTooMany: false },
    { waitedMs: 0, isKnown: false, isTooMany: true },
  ]);
});
