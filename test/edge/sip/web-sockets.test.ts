import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect as tcpConnect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { handOnUpgrades, isUpgrade } from '../../../src/edge/rest/http/upgrades.ts';
import type { SignallingOptions } from '../../../src/edge/sip/signalling.ts';
import { DEFAULT_STREAM_LIMITS } from '../../../src/edge/sip/signalling.ts';
import { until } from '../../eventually.ts';
import { certificate, IdentityFolder } from './certificates.ts';
import {
  authenticated,
  headerOf,
  QUIET,
  type Rig,
  requestText,
  SDP,
  startRig,
  TcpPeer,
  WsPeer,
} from './rig.ts';

const cleanUp: (() => unknown)[] = [];

afterEach(async () => {
  for (const act of cleanUp.splice(0).reverse()) await act();
});

async function rigOf(options: Partial<SignallingOptions> = {}): Promise<Rig> {
  const rig = await startRig({ webSockets: { ws: 0 }, ...options });
  cleanUp.push(() => rig.signalling.stop());
  return rig;
}

const urlOf = (rig: Rig): string => `ws://127.0.0.1:${rig.signalling.ports().ws}/`;

async function browser(url: string): Promise<WsPeer> {
  const peer = await WsPeer.open(url);
  cleanUp.push(() => peer.close());
  return peer;
}

async function register(peer: WsPeer): Promise<string> {
  const lines = { method: 'REGISTER', uri: 'sip:127.0.0.1', to: '<sip:alice@127.0.0.1>' };
  await authenticated(peer, { ...lines, callId: 'reg' });
  return peer.read('SIP/2.0');
}

/** Status of a refused upgrade. */
async function refusedWith(url: string, protocols: string[], headers = {}): Promise<number> {
  const socket = new WebSocket(url, protocols, { headers });
  socket.on('error', () => undefined);
  const [, response] = await once(socket, 'unexpected-response');
  return response.statusCode;
}

const invite = (rig: Rig, ended: () => void = () => undefined) =>
  rig.signalling.invite(
    { kind: 'endpoint', username: 'alice' },
    { from: { user: 'bob', displayName: '' }, sdp: SDP, headers: [] },
    { ...QUIET, progress: () => undefined, connected: () => undefined, ended },
  );

describe('a browser over WebSocket (RFC 7118)', () => {
  it('registers with an unresolvable contact and is called over its socket', async () => {
    const rig = await rigOf();
    const peer = await browser(urlOf(rig));
    const ok = await register(peer);
    expect(headerOf(ok, 'Contact')).toContain('<sip:alice@browser.invalid;transport=ws>');
    invite(rig);
    const request = await peer.read('INVITE sip:alice@browser.invalid;transport=ws SIP/2.0');
    const port = rig.signalling.ports().ws;
    expect(headerOf(request, 'Via')).toContain(`SIP/2.0/WS 127.0.0.1:${port};`);
    expect(headerOf(request, 'Contact')).toBe(`<sip:127.0.0.1:${port};transport=ws>`);
    expect(rig.signalling.counters().connections).toEqual({ ws: 1 });
  });

  it('calls and receives a hangup', async () => {
    const rig = await rigOf();
    const peer = await browser(urlOf(rig));
    const lines = { method: 'INVITE', uri: 'sip:100@127.0.0.1', callId: 'call', body: SDP };
    const leg = rig.nextLeg();
    await authenticated(peer, lines);
    const inbound = await leg;
    const answered = inbound.answer(SDP);
    const to = headerOf(await peer.read('200'), 'To');
    peer.write(requestText(peer, { ...lines, method: 'ACK', to, cseq: 2, body: '' }));
    await answered;
    inbound.hangup('normal');
    await peer.read('BYE sip:alice@browser.invalid');
  });

  it('is unregistered when its socket closes: calls to it end immediately', async () => {
    const rig = await rigOf();
    const peer = await browser(urlOf(rig));
    await register(peer);
    const ended = new Promise<void>((resolve) => invite(rig, resolve));
    await peer.read('INVITE');
    peer.close();
    await ended;
    expect(rig.signalling.isRegistered('alice')).toBe(false);
    await new Promise<void>((resolve) => invite(rig, resolve));
  });

  it('may send text and binary frames; keep-alives work as over TCP', async () => {
    const rig = await rigOf();
    const peer = await browser(urlOf(rig));
    const text = (callId: string) =>
      requestText(peer, { method: 'OPTIONS', uri: 'sip:127.0.0.1', callId });
    peer.write(text('text'));
    peer.write(Buffer.from(text('bytes')));
    await peer.read('200');
    await peer.read('200');
    peer.write('\r\n\r\n');
    await until(() => peer.texts.includes('\r\n'));
    peer.write(text('no-length').replace(/Content-Length: 0\r\n/, ''));
    await peer.read('200');
  });

  it('must request the SIP subprotocol from an allowed origin', async () => {
    const rig = await rigOf({ webSockets: { ws: 0, origins: ['https://app.test'] } });
    const url = urlOf(rig);
    expect(await refusedWith(url, [])).toBe(400);
    expect(await refusedWith(url, ['chat'])).toBe(400);
    expect(await refusedWith(url, ['sip'], { origin: 'https://evil.test' })).toBe(403);
    expect((await fetch(url.replace('ws:', 'http:'))).status).toBe(426);
    const good = new WebSocket(url, ['chat', 'sip'], { headers: { origin: 'https://app.test' } });
    await once(good, 'open');
    expect(good.protocol).toBe('sip');
    good.terminate();
  });

  it('over TLS is called under WSS', async () => {
    const files = new IdentityFolder();
    cleanUp.push(() => files.remove());
    const identity = files.identity(await certificate(['127.0.0.1']));
    const tls = { identity, port: undefined };
    const rig = await rigOf({ tls, webSockets: { wss: 0 } });
    const peer = await browser(`wss://127.0.0.1:${rig.signalling.ports().wss}/`);
    await register(peer);
    invite(rig);
    const request = await peer.read('INVITE');
    expect(headerOf(request, 'Via')).toContain('SIP/2.0/WSS ');
    expect(rig.signalling.counters().connections).toEqual({ wss: 1 });
  });
});

describe('at an HTTP server of the service', () => {
  it('/sip works the same; other upgrades are handled as normal requests', async () => {
    const rig = await rigOf({ webSockets: {} });
    const server = createHttpServer({ shouldUpgradeCallback: isUpgrade }, (_request, response) => {
      response.writeHead(404).end();
    });
    handOnUpgrades(server, ['127.0.0.1'], (...upgrade) => rig.signalling.upgrade(...upgrade));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanUp.push(() => server.close());
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    expect(await refusedWith(`ws://127.0.0.1:${port}/other`, ['sip'])).toBe(404);
    expect(await refusedWith(`ws://127.0.0.1:${port}/sip`, [])).toBe(400);
    const socket = new WebSocket(`ws://127.0.0.1:${port}/sip`, ['sip'], {
      headers: { 'x-forwarded-for': '203.0.113.9, 198.51.100.7', 'x-forwarded-proto': 'https' },
    });
    await once(socket, 'open');
    cleanUp.push(() => socket.terminate());
    expect(rig.signalling.counters().connections).toEqual({ wss: 1 });
    const leg = rig.nextLeg();
    const peer = await browser(`ws://127.0.0.1:${port}/sip`);
    await authenticated(peer, {
      method: 'INVITE',
      uri: 'sip:100@127.0.0.1',
      callId: 'http',
      body: SDP,
    });
    expect((await leg).source).toMatchObject({ transport: 'ws', address: '127.0.0.1' });
  });
});

describe('a hostile peer of WebSocket', () => {
  const limits = { ...DEFAULT_STREAM_LIMITS, messageMs: 150 };

  it('without an upgrade, without messages or with too many is disconnected', async () => {
    const rig = await rigOf({ connections: limits });
    const slow = new TcpPeer(tcpConnect(rig.signalling.ports().ws ?? 0, '127.0.0.1'));
    slow.write('GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    const silent = await browser(urlOf(rig));
    const huge = await browser(urlOf(rig));
    huge.write('x'.repeat(70_000));
    await until(() => slow.closed && [silent, huge].every(({ closed }) => closed !== undefined));
    expect([silent.closed, huge.closed]).toEqual([1008, 1009]);
    expect(rig.signalling.counters().connections).toEqual({});
  });

  it('that never reads is disconnected', async () => {
    const rig = await rigOf({ connections: { ...limits, maxUnsentBytes: 20_000 } });
    const peer = await browser(urlOf(rig));
    await register(peer);
    peer.socket.pause();
    const uri = `sip:127.0.0.1;x=${'x'.repeat(4000)}`;
    const text = requestText(peer, { method: 'OPTIONS', uri, callId: 'flood' });
    await until(() => {
      for (let i = 0; i < 100 && peer.socket.readyState === WebSocket.OPEN; i += 1) {
        peer.write(text.replace('flood', `flood${i}`));
      }
      return rig.signalling.counters().connections.ws === undefined;
    });
    expect(rig.signalling.isRegistered('alice')).toBe(false);
  });
});
