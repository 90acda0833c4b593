import { once } from 'node:events';
import { connect as tcpConnect } from 'node:net';
import { createServer, type Server, TLSSocket } from 'node:tls';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { OutboundLegEvents } from '../../../src/domain/call/needs.ts';
import type { SignallingOptions } from '../../../src/edge/sip/signalling.ts';
import { DEFAULT_STREAM_LIMITS } from '../../../src/edge/sip/signalling.ts';
import { until } from '../../eventually.ts';
import { certificate, IdentityFolder, type Pair } from './certificates.ts';
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

const cleanUp: (() => unknown)[] = [];
let authority: Pair;
let own: Pair;

beforeAll(async () => {
  authority = await certificate([]);
  own = await certificate(['carillon.test', '127.0.0.1'], authority);
});

afterEach(async () => {
  for (const act of cleanUp.splice(0).reverse()) await act();
});

function folder(): IdentityFolder {
  const made = new IdentityFolder();
  cleanUp.push(() => made.remove());
  return made;
}

async function rigOf(options: Partial<SignallingOptions> = {}): Promise<Rig> {
  const identity = folder().identity(own, authority);
  const rig = await startRig({ tls: { identity, port: 0 }, ...options });
  cleanUp.push(() => rig.signalling.stop());
  return rig;
}

const portOf = (rig: Rig): number => rig.signalling.ports().tls ?? 0;

async function secure(rig: Rig, more: Parameters<typeof TcpPeer.secure>[1] = {}) {
  const peer = await TcpPeer.secure(portOf(rig), more);
  cleanUp.push(() => peer.close());
  return peer;
}

async function register(peer: WirePeer, scheme: 'sip' | 'sips' = 'sip'): Promise<string> {
  const lines = { method: 'REGISTER', uri: 'sip:127.0.0.1', to: '<sip:alice@127.0.0.1>' };
  await authenticated(peer, { ...lines, callId: `reg-${peer.port}`, scheme });
  return peer.read('SIP/2.0');
}

const TO_NOBODY: OutboundLegEvents = {
  ...QUIET,
  progress: () => undefined,
  connected: () => undefined,
};

const invite = (rig: Rig, secureOnly = false, events = TO_NOBODY) =>
  rig.signalling.invite(
    { kind: 'endpoint', username: 'alice', secure: secureOnly },
    { from: { user: 'bob', displayName: '' }, sdp: SDP, headers: [] },
    events,
  );

/** Answers our INVITE with 200. */
const accept = (peer: WirePeer, request: string, contact: string): void => {
  const echoed = ['Via', 'From', 'Call-ID', 'CSeq'].map(
    (name) => `${name}: ${headerOf(request, name)}`,
  );
  const to = `To: ${headerOf(request, 'To')};tag=callee`;
  const lines = [...echoed, to, `Contact: <${contact}>`, 'Content-Type: application/sdp'];
  peer.write(
    `SIP/2.0 200 OK\r\n${lines.join('\r\n')}\r\nContent-Length: ${SDP.length}\r\n\r\n${SDP}`,
  );
};

describe('a phone over TLS', () => {
  it('registers, is called over its connection, and is unregistered when it closes', async () => {
    const rig = await rigOf();
    const phone = await secure(rig);
    expect(await register(phone)).toContain('200 OK');
    expect(rig.signalling.counters().connections).toEqual({ tls: 1 });
    invite(rig);
    const request = await phone.read('INVITE');
    expect(headerOf(request, 'Via')).toContain(`SIP/2.0/TLS 127.0.0.1:${portOf(rig)};`);
    expect(headerOf(request, 'Contact')).toBe(`<sip:127.0.0.1:${portOf(rig)};transport=tls>`);
    accept(phone, request, 'sip:alice@192.0.2.1:5061;transport=tls');
    await phone.read('ACK');
    phone.close();
    await until(() => !rig.signalling.isRegistered('alice'));
    expect(rig.signalling.counters().connections).toEqual({});
  });

  it('calls, and receives the end on its connection', async () => {
    const rig = await rigOf();
    const phone = await secure(rig);
    const lines = { method: 'INVITE', uri: 'sip:100@127.0.0.1', callId: 'call', body: SDP };
    const leg = rig.nextLeg();
    await authenticated(phone, lines);
    const inbound = await leg;
    expect(inbound.source.transport).toBe('tls');
    const answered = inbound.answer(SDP);
    const ok = await phone.read('200');
    expect(headerOf(ok, 'Contact')).toContain(`:${portOf(rig)};transport=tls>`);
    const to = headerOf(ok, 'To');
    phone.write(requestText(phone, { ...lines, method: 'ACK', to, cseq: 2, body: '' }));
    await answered;
    inbound.hangup('normal');
    await phone.read('BYE');
  });

  it('accepts header fields of 32 KB', async () => {
    const rig = await rigOf();
    const phone = await secure(rig);
    const more = ['X-One', 'X-Two'].map((name) => `${name}: ${name.repeat(3100)}`);
    const lines = { method: 'INVITE', uri: 'sip:100@127.0.0.1', callId: 'long', body: SDP };
    const leg = rig.nextLeg();
    await authenticated(phone, { ...lines, more });
    expect((await leg).dialled).toBe('100');
    const one = `X-Long: ${'x'.repeat(31_000)}`;
    phone.write(requestText(phone, { ...lines, method: 'OPTIONS', callId: 'one', more: [one] }));
    await phone.read('200');
  });

  it('presents a renewed certificate to new connections and ignores a broken one', async () => {
    const files = folder();
    const identity = files.identity(own, authority);
    const rig = await rigOf({ tls: { identity, port: 0 } });
    const shown = async (): Promise<string> => {
      const { socket } = await secure(rig);
      return socket instanceof TLSSocket ? String(socket.getPeerCertificate().subject.CN) : '';
    };
    expect(await shown()).toBe('carillon.test');
    const renewed = await certificate(['renewed.test'], authority);
    files.write('own.crt', renewed.cert);
    identity.reload();
    expect(await shown()).toBe('carillon.test');
    files.write('own.key', renewed.key);
    identity.reload();
    expect(await shown()).toBe('renewed.test');
  });

  it('presents a certificate if required', async () => {
    const identity = folder().identity(own, authority, { clients: 'required' });
    const rig = await rigOf({ tls: { identity, port: 0 } });
    const unknownPeer = await secure(rig, await certificate(['x.test']));
    await until(() => unknownPeer.closed);
    const trusted = await secure(rig, await certificate(['x.test'], authority));
    expect(await register(trusted)).toContain('200 OK');
    expect(rig.signalling.counters().failedHandshakes).toBe(1);
  });
});

describe('sips: (RFC 5630)', () => {
  it('is refused without TLS', async () => {
    const rig = await rigOf();
    const peer = await UdpPeer.open(rig.signalling.port());
    cleanUp.push(() => peer.close());
    const lines = { method: 'INVITE', uri: 'sips:100@127.0.0.1', callId: 'plain', body: SDP };
    peer.write(requestText(peer, lines));
    expect(headerOf(await peer.read('416'), 'Warning')).toContain('380');
    await authenticated(peer, {
      method: 'REGISTER',
      uri: 'sip:127.0.0.1',
      to: '<sip:alice@127.0.0.1>',
      callId: 'r',
      scheme: 'sips',
    });
    await peer.read('400 SIPS Contact Without TLS');
  });

  it('is our Contact in a dialog that started with it', async () => {
    const rig = await rigOf();
    const phone = await secure(rig);
    rig.onLeg = (leg) => {
      leg.attach(QUIET);
      leg.ring();
    };
    await authenticated(phone, {
      method: 'INVITE',
      uri: 'sips:100@127.0.0.1',
      callId: 's',
      body: SDP,
    });
    const ringing = await phone.read('180');
    expect(headerOf(ringing, 'Contact')).toBe(`<sips:127.0.0.1:${portOf(rig)}>`);
  });

  it('reaches only contacts of that scheme', async () => {
    const rig = await rigOf();
    const phone = await secure(rig);
    await register(phone);
    expect(rig.signalling.isRegistered('alice', true)).toBe(false);
    const ended = new Promise((resolve) => invite(rig, true, { ...TO_NOBODY, ended: resolve }));
    expect(await ended).toMatchObject({ how: 'unreachable' });
    const safe = await secure(rig);
    await register(safe, 'sips');
    expect(rig.signalling.isRegistered('alice', true)).toBe(true);
    invite(rig, true);
    const request = await safe.read('INVITE sips:alice@');
    expect(headerOf(request, 'To')).toBe('<sips:alice@127.0.0.1>');
    expect(headerOf(request, 'Contact')).toBe(`<sips:127.0.0.1:${portOf(rig)}>`);
  });
});

describe('a carrier over TLS', () => {
  interface Gateway {
    readonly port: number;
    readonly peers: TcpPeer[];
    readonly names: (string | false | null)[];
  }

  async function gateway(shown: Pair): Promise<Gateway> {
    const peers: TcpPeer[] = [];
    const names: (string | false | null)[] = [];
    const server: Server = createServer({ ...shown, requestCert: true, ca: [authority.cert] });
    server.on('secureConnection', (socket) => {
      names.push(socket.servername);
      peers.push(new TcpPeer(socket));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    cleanUp.push(() => server.close());
    cleanUp.push(() => peers.forEach((peer) => void peer.close()));
    return { port: typeof address === 'object' ? (address?.port ?? 0) : 0, peers, names };
  }

  const dns = {
    naptr: async () => [],
    srv: async () => [],
    addresses: async () => ['127.0.0.1'],
  };

  const towards = (port: number, options: Partial<SignallingOptions> = {}) =>
    rigOf({
      dns,
      carriers: () => [carrier({ host: 'gw.carrier.test', port, transport: 'tls' })],
      ...options,
    });

  it('is resolved by its name and accepted only with its certificate (RFC 5922)', async () => {
    const good = await gateway(await certificate(['sip:gw.carrier.test', 'x.test'], authority));
    const rig = await towards(good.port);
    await until(() => good.peers.length === 1);
    const [peer] = good.peers;
    const probe = await peer?.read('OPTIONS');
    expect(headerOf(probe ?? '', 'Via')).toContain(`SIP/2.0/TLS 127.0.0.1:${portOf(rig)}`);
    expect(good.names).toEqual(['gw.carrier.test']);
    const call = () =>
      rig.signalling.invite(
        { kind: 'carrier', carrier: 'north', number: '4930' },
        { from: { user: 'bob', displayName: '' }, sdp: SDP, headers: [] },
        TO_NOBODY,
      );
    for (const _call of [1, 2]) {
      call();
      const request = await peer?.read('INVITE sip:4930@gw.carrier.test');
      expect(headerOf(request ?? '', 'Contact')).toContain(`:${portOf(rig)};transport=tls`);
    }
    expect(good.peers).toHaveLength(1);
  });

  it.each([
    ['of another name', () => certificate(['sip.other.test'], authority)],
    ['of a wildcard', () => certificate(['*.carrier.test'], authority)],
    ['of an unknown authority', () => certificate(['gw.carrier.test'])],
  ])('with a certificate %s is not reached and receives nothing', async (_what, make) => {
    const other = await gateway(await make());
    const rig = await towards(other.port);
    const how = await new Promise((resolve) =>
      rig.signalling.invite(
        { kind: 'carrier', carrier: 'north', number: '4930' },
        { from: { user: 'bob', displayName: '' }, sdp: SDP, headers: [] },
        { ...TO_NOBODY, ended: resolve },
      ),
    );
    expect(how).toMatchObject({ how: 'transport' });
    expect(other.peers.flatMap(({ texts }) => texts)).toEqual([]);
  });

  it('that calls without TLS must authenticate', async () => {
    const rig = await towards(1);
    const plain = await UdpPeer.open(rig.signalling.port());
    const tls = await secure(rig);
    cleanUp.push(() => plain.close());
    const lines = { method: 'INVITE', uri: 'sip:100@127.0.0.1', user: '4930', body: SDP };
    plain.write(requestText(plain, { ...lines, callId: 'plain' }));
    await plain.read('401');
    const leg = rig.nextLeg();
    tls.write(requestText(tls, { ...lines, callId: 'tls' }));
    expect((await leg).carrier).toBe('north');
  });

  it('that proved its name is reached over the connection that it opened (RFC 5923)', async () => {
    const identity = folder().identity(own, authority, { clients: 'optional' });
    const spare = await gateway(await certificate(['gw.carrier.test'], authority));
    const carriers = [carrier({ host: 'gw.carrier.test', port: spare.port, transport: 'tls' })];
    const rig = await rigOf({ tls: { identity, port: 0 }, dns, carriers: () => carriers });
    await until(() => spare.peers.length === 1);
    spare.peers[0]?.close();
    await until(() => rig.signalling.counters().connections.tls === undefined);
    const opened = await secure(rig, await certificate(['gw.carrier.test'], authority));
    const text = requestText(opened, { method: 'OPTIONS', uri: 'sip:127.0.0.1', callId: 'alias' });
    const via = `Via: SIP/2.0/TLS gw.carrier.test:${spare.port};alias;rport;branch=z9hG4bKalias`;
    opened.write(text.replace(/^Via: .*$/m, via));
    await opened.read('200');
    rig.signalling.invite(
      { kind: 'carrier', carrier: 'north', number: '4930' },
      { from: { user: 'bob', displayName: '' }, sdp: SDP, headers: [] },
      TO_NOBODY,
    );
    await opened.read('INVITE sip:4930@gw.carrier.test');
    expect(spare.peers).toHaveLength(1);
  });
});

describe('a hostile peer of TLS', () => {
  const limits = { ...DEFAULT_STREAM_LIMITS, messageMs: 150 };

  it('without a handshake, or without TLS, is disconnected', async () => {
    const rig = await rigOf({ connections: limits });
    const [silent, rude] = [0, 1].map(() => new TcpPeer(tcpConnect(portOf(rig), '127.0.0.1')));
    cleanUp.push(() => silent?.close());
    rude?.write('OPTIONS sip:a SIP/2.0\r\n\r\n');
    await until(() => silent?.closed === true && rude?.closed === true);
    expect(rig.signalling.counters()).toMatchObject({ connections: {}, failedHandshakes: 1 });
  });

  it('counts half-open handshakes and evicts them for new ones', async () => {
    const rig = await rigOf({
      connections: { ...limits, messageMs: 60_000, maxConnections: 2 },
    });
    const idle = [0, 1].map(() => new TcpPeer(tcpConnect(portOf(rig), '127.0.0.1')));
    for (const peer of idle) await once(peer.socket, 'connect');
    const phone = await secure(rig);
    await until(() => idle.some((peer) => peer.closed));
    expect(await register(phone)).toContain('200 OK');
    for (const peer of idle) peer.close();
  });

  it('that reads late receives everything late', async () => {
    const rig = await rigOf({
      connections: { ...limits, messageMs: 60_000, maxUnsentBytes: 400_000 },
    });
    const phone = await secure(rig);
    await register(phone);
    phone.socket.pause();
    const uri = `sip:127.0.0.1;x=${'x'.repeat(4000)}`;
    const before = phone.texts.length;
    for (let i = 0; i < 2000; i += 1) {
      phone.write(requestText(phone, { method: 'OPTIONS', uri, callId: `late${i}` }));
    }
    const received = (): number =>
      rig.signalling
        .counters()
        .messages.filter(({ method }) => method === 'OPTIONS')
        .reduce((sum, { count }) => sum + count, 0);
    let last = 0;
    await until(() => {
      const still = received() > 0 && received() === last;
      last = received();
      return still;
    });
    expect(last).toBeLessThan(2000);
    phone.socket.resume();
    await until(() => phone.texts.length - before === 2000, 'every answer', 10_000);
  });

  it('that never reads is disconnected and uses no more memory than the limit', async () => {
    const rig = await rigOf({ connections: { ...limits, maxUnsentBytes: 20_000 } });
    const phone = await secure(rig);
    await register(phone);
    phone.socket.pause();
    const uri = `sip:127.0.0.1;x=${'x'.repeat(4000)}`;
    const text = requestText(phone, { method: 'OPTIONS', uri, callId: 'flood' });
    const flood = (): void => {
      if (phone.closed) return;
      for (let i = 0; i < 100; i += 1) phone.write(text.replace('flood', `flood${i}`));
    };
    await until(() => {
      flood();
      return rig.signalling.counters().connections.tls === undefined;
    });
    expect(rig.signalling.isRegistered('alice')).toBe(false);
  });
});
