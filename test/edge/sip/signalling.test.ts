import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/base/errors.ts';
import type { LegEnd, OutboundLegEvents, RespondingPeer } from '../../../src/domain/call/needs.ts';
import type { SignallingOptions } from '../../../src/edge/sip/signalling.ts';
import { until } from '../../eventually.ts';
import {
  authenticated,
  carrier,
  headerOf,
  QUIET,
  type Rig,
  requestText,
  SDP,
  startRig,
  TcpPeer,
  UdpPeer,
  type WirePeer,
} from './rig.ts';

const running: Rig[] = [];
const peers: { close(): void }[] = [];

async function rigOf(options: Partial<SignallingOptions> = {}): Promise<Rig> {
  const rig = await startRig(options);
  running.push(rig);
  return rig;
}

async function udp(rig: Rig): Promise<UdpPeer> {
  const peer = await UdpPeer.open(rig.signalling.port());
  peers.push(peer);
  return peer;
}

async function tcp(rig: Rig): Promise<TcpPeer> {
  const peer = await TcpPeer.open(rig.signalling.port());
  peers.push(peer);
  return peer;
}

afterEach(async () => {
  for (const peer of peers.splice(0)) peer.close();
  for (const rig of running.splice(0)) await rig.signalling.stop();
});

const home = (rig: Rig, user = ''): string =>
  `sip:${user === '' ? '' : `${user}@`}127.0.0.1:${rig.signalling.port()}`;

async function register(rig: Rig, peer: WirePeer, user = 'alice', password = 'wonderland') {
  const uri = home(rig);
  const lines = {
    method: 'REGISTER',
    uri,
    to: `<sip:${user}@127.0.0.1>`,
    callId: `reg-${user}-${peer.port}`,
  };
  await authenticated(peer, { ...lines, user, ...{ password } });
  return peer.read('200');
}

/** An answer of a scripted peer to a request that it read. */
function answer(request: string, status: string, more: readonly string[] = [], body = ''): string {
  const copied = request
    .split('\r\n')
    .filter((line) => /^(via|from|call-id|cseq|record-route): /i.test(line));
  return [
    `SIP/2.0 ${status}`,
    ...copied,
    `To: ${headerOf(request, 'To')};tag=callee`,
    ...more,
    ...(body === '' ? [] : ['Content-Type: application/sdp']),
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n');
}

function recorder() {
  const log: string[] = [];
  const ends: LegEnd[] = [];
  const responders: RespondingPeer[] = [];
  const events: OutboundLegEvents = {
    ...QUIET,
    heardFrom: (peer) => responders.push(peer),
    progress: (status) => log.push(`progress ${status}`),
    connected: (sdp) => {
      log.push(`connected ${sdp === SDP}`);
      return undefined;
    },
    ended: (end) => {
      ends.push(end);
      log.push(`ended ${end.how}`);
    },
  };
  return { log, ends, responders, events };
}

const DIAL = { from: { user: '15550100', displayName: 'Caller' }, sdp: SDP, headers: [] };

describe('registration', () => {
  it.each(['udp', 'tcp'] as const)(
    'over %s with digest is stored and counted as registered',
    async (kind) => {
      const rig = await rigOf();
      const peer = await (kind === 'udp' ? udp(rig) : tcp(rig));
      const ok = await register(rig, peer);
      expect(headerOf(ok, 'Contact')).toContain('expires=3600');
      expect(rig.signalling.isRegistered('alice')).toBe(true);
      expect(rig.signalling.isRegistered('bob')).toBe(false);
      expect([...rig.bindings.rows.values()]).toMatchObject([
        { username: 'alice', flow: { transport: kind, address: '127.0.0.1', port: peer.port } },
      ]);
      expect(rig.signalling.registrations()).toHaveLength(1);
    },
  );

  it('over TCP ends with its connection', async () => {
    const rig = await rigOf();
    const peer = await tcp(rig);
    await register(rig, peer);
    peer.close();
    await until(() => !rig.signalling.isRegistered('alice'));
    await until(() => rig.bindings.rows.size === 0);
  });

  it('is remembered by the next process', async () => {
    const rig = await rigOf();
    await register(rig, await udp(rig));
    const next = await rigOf({ bindings: rig.bindings });
    expect(next.signalling.isRegistered('alice')).toBe(true);
  });
});

describe('busy lamps', () => {
  it('tell one phone that another one of its account is called', async () => {
    const rig = await rigOf();
    const [alice, bob] = [await udp(rig), await udp(rig)];
    await register(rig, bob, 'bob', 'builder');
    await authenticated(alice, {
      ...{ method: 'SUBSCRIBE', uri: home(rig, 'bob'), callId: 'lamp', password: 'wonderland' },
      more: ['Event: dialog', 'Expires: 600', 'Accept: application/dialog-info+xml'],
    });
    expect(headerOf(await alice.read('200'), 'Expires')).toBe('600');
    const idle = await alice.read('NOTIFY');
    expect(idle).toContain('<state>terminated</state>');
    const copied = idle.split('\r\n').filter((line) => /^(via|from|to|call-id|cseq): /i.test(line));
    alice.write(['SIP/2.0 200 OK', ...copied, 'Content-Length: 0', '', ''].join('\r\n'));
    rig.signalling.invite({ kind: 'endpoint', username: 'bob' }, DIAL, recorder().events);
    const rings = await alice.read('NOTIFY');
    expect(rings).toContain('<state>trying</state>');
    expect(headerOf(rings, 'Content-Type')).toBe('application/dialog-info+xml');
  });
});

describe('inbound legs', () => {
  async function calling(rig: Rig, peer: WirePeer, more: readonly string[] = []) {
    const waiting = rig.nextLeg();
    const uri = home(rig, '100');
    await authenticated(peer, { method: 'INVITE', uri, callId: 'in-1', body: SDP, more });
    return waiting;
  }

  it.each(['udp', 'tcp'] as const)(
    'over %s: digest, ringing, answer resolved by the ACK, BYE',
    async (kind) => {
      const rig = await rigOf();
      const ended: LegEnd[] = [];
      rig.onLeg = (leg) => leg.attach({ ...QUIET, ended: (end) => ended.push(end) });
      const peer = await (kind === 'udp' ? udp(rig) : tcp(rig));
      const leg = await calling(rig, peer, [
        'X-PH-Color: red',
        'X-Other: no',
        'User-Agent: Phone/1',
      ]);
      expect(leg).toMatchObject({
        sipCallId: 'in-1',
        dialled: '100',
        endpointUsername: 'alice',
        carrier: undefined,
        userAgent: 'Phone/1',
        headers: [
          ['X-PH-Color', 'red'],
          ['X-Other', 'no'],
        ],
        sdp: SDP,
        from: { uri: 'sip:alice@127.0.0.1', user: 'alice', host: '127.0.0.1' },
        source: { transport: kind, address: '127.0.0.1', port: peer.port },
      });
      leg.ring();
      await peer.read('180');
      const answered = leg.answer(SDP);
      const ok = await peer.read('200');
      const uri = /<(.*)>/.exec(headerOf(ok, 'Contact'))?.[1] ?? '';
      const dialog = { uri, to: headerOf(ok, 'To'), callId: 'in-1' };
      peer.write(requestText(peer, { ...dialog, method: 'ACK', cseq: 2 }));
      expect(await answered).toEqual({ ok: true, value: undefined });
      peer.write(requestText(peer, { ...dialog, method: 'BYE', cseq: 3 }));
      await peer.read('200');
      await until(() => ended.length === 1);
      expect(ended[0]).toMatchObject({ by: 'remote', how: 'bye' });
      expect(rig.signalling.counters().legs).toBe(0);
    },
  );

  it('that nobody attaches to is refused with 500', async () => {
    const rig = await rigOf();
    rig.onLeg = () => undefined;
    const peer = await udp(rig);
    await calling(rig, peer);
    await peer.read('500');
  });

  it('hung up before the answer gets the status of its cause; answer() tells the end', async () => {
    const rig = await rigOf();
    const peer = await udp(rig);
    const leg = await calling(rig, peer);
    leg.hangup('busy');
    leg.hangup('rejected');
    await peer.read('486');
    const result = await leg.answer(SDP);
    expect(result).toMatchObject({
      ok: false,
      error: { by: 'local', how: 'refused', status: 486 },
    });
  });

  it('of a carrier come without digest, under its name', async () => {
    const rig = await rigOf({
      carriers: () => [carrier({ sourceAddresses: ['127.0.0.0/8'], port: 9 })],
    });
    const peer = await udp(rig);
    const waiting = rig.nextLeg();
    peer.write(
      requestText(peer, {
        method: 'INVITE',
        uri: home(rig, '1555'),
        user: '4930123',
        callId: 'c',
        body: SDP,
      }),
    );
    expect(await waiting).toMatchObject({ carrier: 'north', endpointUsername: undefined });
  });
});

describe('outbound legs', () => {
  it('reach a registered endpoint over the connection that it registered on', async () => {
    const rig = await rigOf();
    const phone = await tcp(rig);
    await register(rig, phone);
    const { log, events } = recorder();
    const leg = rig.signalling.invite({ kind: 'endpoint', username: 'alice' }, DIAL, events);
    const invite = await phone.read('INVITE');
    expect(headerOf(invite, 'From')).toContain('"Caller" <sip:15550100@127.0.0.1>');
    phone.write(answer(invite, '180 Ringing'));
    const contact = [`Contact: <sip:alice@127.0.0.1:${phone.port};transport=tcp>`];
    phone.write(answer(invite, '200 OK', contact, SDP));
    await phone.read('ACK');
    leg.hangup('normal');
    const bye = await phone.read('BYE');
    expect(headerOf(bye, 'Reason')).toContain('Q.850;cause=16');
    phone.write(answer(bye, '200 OK'));
    await until(() => log.length === 3);
    expect(log).toEqual(['progress 180', 'connected true', 'ended bye']);
    expect(leg.sipCallId).toBe(headerOf(invite, 'Call-ID'));
  });

  it('reach a carrier with its digits, identity and headers, and answer its digest', async () => {
    const far = await rigOf();
    const peer = await udp(far);
    const north = carrier({
      port: peer.port,
      strip: 2,
      prepend: '00',
      auth: { username: 'trunk', password: 'key', register: false },
    });
    const rig = await rigOf({ carriers: () => [north] });
    const back = await UdpPeer.open(rig.signalling.port());
    peers.push(back);
    const { ends, responders, events } = recorder();
    const headers = [['X-VH-Id', 'a\r\nEvil: yes']] as const;
    rig.signalling.invite(
      { kind: 'carrier', carrier: 'north', number: '4930123' },
      { ...DIAL, headers },
      events,
    );
    const invite = await peer.read('INVITE');
    expect(invite.split('\r\n')[0]).toBe(`INVITE sip:0030123@127.0.0.1:${peer.port} SIP/2.0`);
    expect(headerOf(invite, 'P-Asserted-Identity')).toBe('<sip:15550100@127.0.0.1>');
    expect(headerOf(invite, 'X-VH-Id')).toBe('a Evil: yes');
    const challenge = 'WWW-Authenticate: Digest realm="c", nonce="n", qop="auth"';
    const reply = (request: string, status: string, more: readonly string[] = []): void => {
      const port = Number(/:(\d+)/.exec(headerOf(request, 'Via'))?.[1]);
      expect(port).toBe(rig.signalling.port());
      back.write(answer(request, status, more));
    };
    reply(invite, '401 Unauthorized', [challenge]);
    await peer.read('ACK');
    const again = await peer.read('INVITE');
    expect(headerOf(again, 'Authorization')).toContain('username="trunk"');
    reply(again, '404 Not Found', ['Server: North/3']);
    await until(() => ends.length === 1);
    expect(responders).toEqual([
      {
        source: { transport: 'udp', address: '127.0.0.1', port: peer.port },
        userAgent: 'North/3',
      },
    ]);
    expect(ends[0]).toMatchObject({
      by: 'remote',
      how: 'refused',
      status: 404,
      reason: 'Not Found',
    });
  });

  it.each([
    ['an endpoint that is not registered', { kind: 'endpoint', username: 'bob' }],
    ['a carrier that does not exist', { kind: 'carrier', carrier: 'south', number: '1' }],
    ['what is no URI', { kind: 'uri', uri: 'not a uri' }],
  ] as const)('to %s end as unreachable, in a later turn', async (_, target) => {
    const rig = await rigOf();
    const { ends, events } = recorder();
    rig.signalling.invite(target, DIAL, events);
    expect(ends).toEqual([]);
    await until(() => ends.length === 1);
    expect(ends[0]).toMatchObject({ how: 'unreachable' });
  });

  it('to a port where nobody listens end with the first repetition: ICMP says so', async () => {
    const gone = await UdpPeer.open(0);
    const { port } = gone;
    gone.close();
    const rig = await rigOf({ carriers: () => [carrier({ port })] });
    const { ends, events } = recorder();
    const begunMs = performance.now();
    rig.signalling.invite({ kind: 'carrier', carrier: 'north', number: '1' }, DIAL, events);
    await until(() => ends.length === 1);
    expect(ends).toMatchObject([{ by: 'remote', how: 'transport' }]);
    expect(performance.now() - begunMs).toBeLessThan(2000);
    expect(rig.signalling.isDown({ kind: 'carrier', carrier: 'north', number: '1' })).toBe(true);
  });

  it('to a closed TCP port end by transport', async () => {
    const rig = await rigOf();
    const { ends, events } = recorder();
    const target = { kind: 'uri', uri: 'sip:a@127.0.0.1:9;transport=tcp' } as const;
    rig.signalling.invite(target, DIAL, events);
    await until(() => ends.length === 1);
    expect(ends[0]).toMatchObject({ how: 'transport' });
  });
});

describe('the service', () => {
  it('names the port in one line when another program has it', async () => {
    const rig = await rigOf();
    const port = rig.signalling.port();
    const second = startRig({ port });
    await expect(second).rejects.toThrow(ServiceError);
    await expect(second).rejects.toThrow(
      `SIP port UDP 127.0.0.1:${port} is in use by another program`,
    );
    const blocker = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => blocker.once('listening', resolve));
    const address = blocker.address();
    const taken = typeof address === 'object' && address !== null ? address.port : 0;
    const third = startRig({ port: taken });
    await expect(third).rejects.toThrow(`SIP port TCP 127.0.0.1:${taken} is in use`);
    blocker.close();
  });

  it('drains: OPTIONS 200 before, 503 after, and it is no longer ready', async () => {
    const rig = await rigOf();
    const peer = await udp(rig);
    const options = (callId: string) =>
      requestText(peer, { method: 'OPTIONS', uri: home(rig), callId });
    expect(rig.signalling.ready()).toBe(true);
    peer.write(options('o1'));
    await peer.read('200');
    rig.signalling.drain();
    peer.write(options('o2'));
    await peer.read('503');
    expect(rig.signalling.ready()).toBe(false);
  });

  it('counts messages, and traces those of who proved something', async () => {
    const traces: string[] = [];
    const rig = await rigOf({
      traces: {
        note: ({ direction, bytes, callId }) => traces.push(`${direction} ${callId} ${bytes}`),
        belongs: () => undefined,
      },
    });
    const peer = await udp(rig);
    await register(rig, peer);
    expect(traces).toHaveLength(2);
    expect(traces[0]).toContain(`in reg-alice-${peer.port} REGISTER`);
    expect(rig.signalling.counters().messages).toContainEqual({
      direction: 'in',
      transport: 'udp',
      method: 'REGISTER',
      code: '',
      count: 2,
    });
  });

  it('probes its carriers and tells their state', async () => {
    const far = await rigOf();
    const carriers = [carrier({ name: 'up', port: far.signalling.port() })];
    const rig = await rigOf({ carriers: () => carriers });
    await until(() => rig.signalling.carrierStates()[0]?.reachable === true);
    expect(rig.signalling.carrierStates()).toMatchObject([
      { name: 'up', lastStatus: 200, registered: undefined },
    ]);
  });

  it('registers with a carrier that wants it', async () => {
    const far = await rigOf();
    const auth = { username: 'alice', password: 'wonderland', register: true };
    const carriers = [carrier({ name: 'reg', port: far.signalling.port(), auth })];
    const rig = await rigOf({ carriers: () => carriers });
    await until(() => rig.signalling.carrierStates()[0]?.registered === true);
    expect(far.signalling.isRegistered('alice')).toBe(true);
  });
});

describe('bad input over TCP', () => {
  const limits = {
    idleMs: 60_000,
    messageMs: 150,
    unknownIdleMs: 60_000,
    maxUnsentBytes: 65_536,
    maxConnections: 3,
    maxConnectionsPerAddress: 3,
    connectMs: 500,
  };

  it('half a message is given up after a while, other connections go on', async () => {
    const rig = await rigOf({ connections: limits });
    const [half, silent, good] = [await tcp(rig), await tcp(rig), await tcp(rig)];
    half.write('OPTIONS sip:a SIP/2.0\r\nVia: SIP/2');
    good.write(requestText(good, { method: 'OPTIONS', uri: home(rig), callId: 'g' }));
    await good.read('200');
    await until(() => half.closed && silent.closed);
    expect(good.closed).toBe(false);
  });

  it('a message above the limit is answered and the connection closed', async () => {
    const rig = await rigOf();
    const peer = await tcp(rig);
    const text = requestText(peer, { method: 'OPTIONS', uri: home(rig), callId: 'big' });
    peer.write(text.replace('Content-Length: 0', 'Content-Length: 99999999'));
    await peer.read('513');
    await until(() => peer.closed);
  });

  it('header fields of 60 KB are answered, and so is a head above the limit that is still being written', async () => {
    const rig = await rigOf();
    const peer = await tcp(rig);
    const lines = { method: 'OPTIONS', uri: home(rig), callId: 'long' };
    const filled = (bytes: number) =>
      requestText(peer, {
        ...lines,
        more: Array.from({ length: bytes / 1000 }, (_, i) => `X-Fill-${i}: ${'x'.repeat(985)}`),
      });
    peer.write(filled(60_000));
    await peer.read('200');
    peer.write(filled(300_000));
    await peer.read('513');
    await until(() => peer.closed);
  });

  it('above the limit the oldest stranger makes way, who registered stays', async () => {
    const rig = await rigOf({ connections: { ...limits, messageMs: 5_000 } });
    const phone = await tcp(rig);
    await register(rig, phone);
    const first = await tcp(rig);
    const second = await tcp(rig);
    const third = await tcp(rig);
    await until(() => first.closed);
    expect([phone.closed, second.closed, third.closed]).toEqual([false, false, false]);
    expect(rig.signalling.counters().connections).toEqual({ tcp: 3 });
  });

  it('where everybody registered a further connection is closed at once', async () => {
    const rig = await rigOf({ connections: { ...limits, maxConnections: 2 } });
    const phones = [await tcp(rig), await tcp(rig)];
    for (const phone of phones) await register(rig, phone);
    const late = await tcp(rig);
    await until(() => late.closed);
    expect(phones.some((phone) => phone.closed)).toBe(false);
  });

  it('an unknown peer may not idle for long', async () => {
    const rig = await rigOf({ connections: { ...limits, messageMs: 60_000, unknownIdleMs: 100 } });
    const [phone, silent] = [await tcp(rig), await tcp(rig)];
    await register(rig, phone);
    await until(() => silent.closed);
    expect(phone.closed).toBe(false);
  });

  it('keep-alives are answered (RFC 5626 §4.4.1)', async () => {
    const rig = await rigOf();
    const peer = await tcp(rig);
    let raw = '';
    peer.socket.on('data', (chunk) => {
      raw += chunk.toString();
    });
    peer.write('\r\n\r\n');
    await until(() => raw === '\r\n');
  });

  it('rubbish in datagrams is counted and answered with nothing', async () => {
    const rig = await rigOf();
    const peer = await udp(rig);
    for (const bytes of ['', '\r\n\r\n', 'hello', Uint8Array.of(0, 255, 13, 10)]) peer.write(bytes);
    peer.write(requestText(peer, { method: 'OPTIONS', uri: home(rig), callId: 'after' }));
    await peer.read('200');
    expect(peer.texts).toHaveLength(1);
  });
});
