/** Priorities at the SIP sockets and limits for unknown peers, in virtual time. */
import { describe, expect, it } from 'vitest';
import { AdmissionFilter } from '../../../src/edge/sip/admission-filter.ts';
import { SourceBudgets, sourceOf } from '../../../src/edge/sip/source-budgets.ts';
import { type Flow, quickParse } from '../../../src/protocol/sip/sip.ts';

const flow = (address: string, port = 5060, connectionId?: number): Flow => ({
  transport: connectionId === undefined ? 'udp' : 'tcp',
  localAddress: '192.0.2.1',
  localPort: 5060,
  remoteAddress: address,
  remotePort: port,
  connectionId,
});
const message = (method: string, ...more: readonly string[]): Buffer =>
  Buffer.from(
    [`${method} sip:x SIP/2.0`, 'To: <sip:x>', ...more, 'Content-Length: 0', '', ''].join('\r\n'),
  );

const FRIEND = '203.0.113.1';
const CARRIER = '203.0.113.2';
const NONCE = 'Authorization: Digest ours';

function setup(unknownPeersPerSecond = 100) {
  const served: string[] = [];
  const closed: number[] = [];
  const waits: number[] = [];
  const turns: (() => void)[] = [];
  const time = { nowMs: 0, costMs: 0, isFull: false };
  const desk = new AdmissionFilter({
    clock: { monotonicMs: () => time.nowMs },
    acquaintance: {
      knows: ({ remoteAddress }) => remoteAddress === FRIEND,
      isCarrier: ({ remoteAddress }) => remoteAddress === CARRIER,
      hasNonce: (authorization) => authorization === 'Digest ours',
    },
    unknownPeersPerSecond,
    refusesCalls: () => time.isFull,
    serve: ({ bytes, flow: { remoteAddress }, waitedMs, isTooMany }) => {
      time.nowMs += isTooMany ? 0 : time.costMs;
      served.push(
        `${isTooMany ? 'refused ' : ''}${Buffer.from(bytes).toString().split(' ', 1)[0]} ${remoteAddress}`,
      );
      waits.push(waitedMs);
    },
    close: (connectionId) => closed.push(connectionId),
    later: (work) => turns.push(work),
  });
  const turn = (): void => turns.shift()?.();
  const receive = (bytes: Uint8Array, from: Flow, waitedMs = 0): void =>
    desk.received(bytes, from, waitedMs);
  return { desk, receive, served, waits, closed, turns, turn, time };
}

describe('the admission filter', () => {
  it('serves in-dialog messages first, then new calls of known peers, carriers and senders with a nonce, then unknown peers with their calls last', () => {
    const { receive, served, turn } = setup();
    receive(message('INVITE'), flow('198.51.100.1'));
    receive(message('REGISTER'), flow('198.51.100.2'));
    receive(message('BYE', 'To: <sip:x>;tag=1'), flow('198.51.100.3'));
    receive(message('INVITE', NONCE), flow('198.51.100.4'));
    receive(message('INVITE'), flow(FRIEND));
    receive(message('INVITE', 't: <sip:x>;tag=1'), flow(FRIEND));
    receive(message('INVITE'), flow(CARRIER));
    receive(message('REGISTER'), flow(FRIEND));
    receive(message('BYE'), flow(CARRIER));
    expect(served).toEqual([`INVITE ${FRIEND}`, `REGISTER ${FRIEND}`, `BYE ${CARRIER}`]);
    served.length = 0;
    turn();
    expect(served).toEqual([
      'INVITE 198.51.100.4',
      `INVITE ${FRIEND}`,
      `INVITE ${CARRIER}`,
      'REGISTER 198.51.100.2',
      'BYE 198.51.100.3',
      'INVITE 198.51.100.1',
    ]);
  });

  it('gives new calls of a carrier a slice of each turn, in order and up to a limit', () => {
    const { desk, receive, served, turn, turns, time } = setup();
    time.costMs = 1;
    for (let n = 0; n < 5000; n += 1) receive(message('INVITE'), flow(CARRIER, n));
    expect(desk.drops().queue).toBe(5000 - 4096);
    receive(message('INVITE'), flow('198.51.100.1'));
    turn();
    expect(served).toEqual([...Array(2).fill(`INVITE ${CARRIER}`), 'INVITE 198.51.100.1']);
    receive(message('BYE'), flow(CARRIER));
    expect(served.at(-1)).toBe(`BYE ${CARRIER}`);
    while (turns.length > 0) turn();
    expect(served).toHaveLength(4096 + 2);
  });

  it.each([
    ['a known peer', FRIEND, []],
    ['a carrier', CARRIER, []],
    ['a sender with a nonce', '198.51.100.4', [NONCE]],
  ] as const)(
    'serves the CANCEL of %s after its INVITE, and others immediately',
    (_, from, more) => {
      const { receive, served, turn, turns } = setup();
      receive(message('INVITE', ...more), flow(from));
      receive(message('CANCEL'), flow(from));
      receive(message('CANCEL'), flow(FRIEND, 5099));
      expect(served).toEqual([`CANCEL ${FRIEND}`]);
      turn();
      expect(served.slice(1)).toEqual([`INVITE ${from}`, `CANCEL ${from}`]);
      receive(message('CANCEL'), flow(CARRIER));
      expect(served.at(-1)).toBe(`CANCEL ${CARRIER}`);
      expect(turns).toHaveLength(0);
    },
  );

  it('refuses new calls immediately during overload, without counting them as delay', () => {
    const { desk, receive, served, turn, turns, time } = setup();
    time.isFull = true;
    receive(message('INVITE'), flow(CARRIER), 300);
    expect(served).toEqual([`INVITE ${CARRIER}`]);
    expect(turns).toHaveLength(0);
    expect(desk.takeWaitMs()).toBe(0);
    receive(message('INVITE'), flow('198.51.100.1'));
    expect(served).toHaveLength(1);
    time.isFull = false;
    for (let n = 0; n < 300; n += 1) receive(message('INVITE'), flow(CARRIER), 300);
    time.isFull = true;
    turn();
    expect(served).toHaveLength(302);
    expect(desk.takeWaitMs()).toBe(0);
  });

  it('refuses new calls immediately if the estimated wait exceeds a quarter of a second', () => {
    const { desk, receive, served, turn, time } = setup();
    const isRefused = (): boolean => served.at(-1)?.startsWith('refused') === true;
    time.costMs = 5;
    for (let n = 0; n < 200; n += 1) receive(message('INVITE'), flow(CARRIER, n));
    // The service interval is not known yet.
    expect(served).toEqual([]);
    for (let n = 0; n < 150; n += 1) turn();
    expect(served).toHaveLength(150);
    // The remaining fifty take a quarter of a second.
    for (let n = 0; n < 5; n += 1) receive(message('INVITE'), flow(CARRIER, n));
    expect(isRefused()).toBe(true);
    receive(message('BYE'), flow(CARRIER));
    expect(served.at(-1)).toBe(`BYE ${CARRIER}`);
    // The time spent elsewhere counts; a few may always wait.
    for (let n = 0; n < 25; n += 1) turn();
    receive(message('INVITE'), flow(CARRIER), 10);
    expect(isRefused()).toBe(false);
    receive(message('INVITE'), flow(CARRIER), 240);
    expect(isRefused()).toBe(true);
    for (let n = 0; n < 20; n += 1) turn();
    receive(message('INVITE'), flow(CARRIER), 240);
    expect(isRefused()).toBe(false);
    expect(desk.drops().queue).toBe(0);
  });

  it('refuses no call for having waited while the event loop was blocked', () => {
    const { desk, receive, served, turn, time } = setup();
    const isRefused = (): boolean => served.at(-1)?.startsWith('refused') === true;
    const serveAll = (): void => {
      for (let n = 0; n < 100; n += 1) turn();
    };
    time.costMs = 2;
    for (let n = 0; n < 100; n += 1) receive(message('INVITE'), flow(CARRIER, n));
    serveAll();
    served.length = 0;
    time.nowMs += 400;
    for (let n = 0; n < 40; n += 1) receive(message('INVITE'), flow(CARRIER, n), 400 - 10 * n);
    receive(message('BYE'), flow(CARRIER), 400);
    expect(served).toEqual([`BYE ${CARRIER}`]);
    // The event loop's own clock measures that delay.
    expect(desk.takeWaitMs()).toBe(0);
    serveAll();
    // Turns as long as under load are not a pause: messages waited for others.
    for (let n = 0; n < 20; n += 1) receive(message('INVITE'), flow(CARRIER, n));
    for (let n = 0; n < 5; n += 1) {
      time.nowMs += 80;
      desk.takeWaitMs();
      receive(message('BYE'), flow(CARRIER), 240);
    }
    expect(desk.takeWaitMs()).toBe(240);
    receive(message('INVITE'), flow(CARRIER), 240);
    expect(isRefused()).toBe(true);
  });

  it('reports how long messages of known peers have waited, including the time before arrival here', () => {
    const { desk, receive, waits, turn, time } = setup();
    receive(message('INVITE'), flow(CARRIER), 100);
    receive(message('BYE'), flow(CARRIER), 30);
    receive(message('BYE'), flow(FRIEND), 50);
    receive(message('INVITE'), flow('198.51.100.1'), 9000);
    time.nowMs += 20;
    turn();
    expect(waits).toEqual([30, 50, 120, 9020]);
    expect(desk.takeWaitMs()).toBe(40);
    expect(desk.takeWaitMs()).toBe(0);
  });

  it('gives unknown peers a short slice of each turn of the event loop', () => {
    const { receive, served, turn, turns, time } = setup();
    time.costMs = 1;
    for (let n = 0; n < 10; n += 1) receive(message('INVITE'), flow(`198.51.100.${n}`));
    turn();
    expect(served).toHaveLength(3);
    expect(turns).toHaveLength(1);
    for (let more = 0; more < 3; more += 1) turn();
    expect(served).toHaveLength(10);
    expect(turns).toHaveLength(0);
  });

  it('queues few unknown peers and drops the rest; a REGISTER has a place in addition to new calls', () => {
    const { desk, receive, served, turn } = setup();
    for (let n = 0; n < 5000; n += 1) {
      receive(message('INVITE'), flow(`10.${n >> 8}.${n & 255}.1`));
    }
    expect(desk.drops().queue).toBeGreaterThan(4000);
    receive(message('REGISTER'), flow('198.51.100.2'));
    turn();
    expect(served[0]).toBe('REGISTER 198.51.100.2');
  });

  it('has a budget for each source that refills with time', () => {
    const { receive, served, turn, time } = setup(100);
    const flood = (): void => {
      for (let n = 0; n < 1000; n += 1) {
        receive(message('INVITE'), flow('198.51.100.1', 1000 + n));
      }
      turn();
    };
    flood();
    expect(served).toHaveLength(200);
    time.nowMs += 1000;
    flood();
    expect(served).toHaveLength(300);
  });

  it('does not limit a neighbour at the same address when one port floods', () => {
    const { receive, served, turn } = setup(100);
    for (let n = 0; n < 1000; n += 1) receive(message('INVITE'), flow('198.51.100.1', 1000));
    receive(message('INVITE'), flow('198.51.100.1', 2000));
    receive(message('REGISTER'), flow('198.51.100.1', 2000));
    turn();
    expect(served.filter((what) => what.startsWith('INVITE'))).toHaveLength(41);
    expect(served[0]).toBe('REGISTER 198.51.100.1');
  });

  it('closes a connection that sends too much or garbage, and drops datagrams silently', () => {
    const { desk, receive, closed } = setup(10);
    for (let n = 0; n < 10; n += 1) receive(message('OPTIONS'), flow('198.51.100.1', 1, 7));
    expect(closed).toContain(7);
    receive(Buffer.from('\x16\x03\x01 hello'), flow('198.51.100.9', 1, 8));
    expect(closed).toContain(8);
    receive(Buffer.from('\r\n\r\n'), flow('198.51.100.9'));
    expect(desk.drops()).toMatchObject({ garbage: 1, keepAlive: 1 });
  });
});

describe('budgets of sources', () => {
  it('are bounded in number', () => {
    const budgets = new SourceBudgets(1);
    for (let n = 0; n < 50_000; n += 1) budgets.take(`source ${n}`, 0);
    expect(budgets.size).toBeLessThanOrEqual(20_000);
  });

  it.each([
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['192.0.2.1', '192.0.2.1'],
  ])('%s counts as %s', (address, source) => {
    expect(sourceOf(address)).toBe(source);
  });
});

describe('quickParse', () => {
  it.each([
    [message('INVITE'), { method: 'INVITE', inDialog: false, authorization: undefined }],
    [message('BYE', 't: <sip:x>;tag=1'), { method: 'BYE', inDialog: true }],
    [message('INVITE', 'AUTHORIZATION:  Digest a="b"'), { authorization: 'Digest a="b"' }],
    [Buffer.from('SIP/2.0 200 OK\r\n\r\n'), { method: '' }],
    [Buffer.from('\r\n\r\nOPTIONS sip:x SIP/2.0\r\n\r\n'), { method: 'OPTIONS' }],
  ])('detects the kind of a message (%#)', (bytes, seen) => {
    expect(quickParse(bytes)).toMatchObject(seen);
  });

  it('does not read headers from the body', () => {
    const bytes = Buffer.concat([
      message('INVITE'),
      Buffer.from('\r\nAuthorization: Digest a\r\n'),
    ]);
    expect(quickParse(bytes)?.authorization).toBeUndefined();
  });

  it.each(['', '\0\0', 'GET', '\x16\x03\x01\x02'])('rejects input that is not SIP (%j)', (text) => {
    expect(quickParse(Buffer.from(text))).toBeUndefined();
  });
});
