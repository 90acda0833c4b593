/** Several flows of one phone (RFC 5626), over sockets. */
import { afterEach, describe, expect, it } from 'vitest';
import type { OutboundLegEvents } from '../../../src/domain/call/needs.ts';
import { until } from '../../eventually.ts';
import {
  authenticated,
  headerOf,
  QUIET,
  type Rig,
  requestText,
  SDP,
  startRig,
  UdpPeer,
  type WirePeer,
  WsPeer,
} from './rig.ts';

const cleanUp: (() => unknown)[] = [];

afterEach(async () => {
  for (const act of cleanUp.splice(0).reverse()) await act();
});

async function rigOf(): Promise<Rig> {
  const rig = await startRig({ webSockets: { ws: 0 } });
  cleanUp.push(() => rig.signalling.stop());
  return rig;
}

async function browser(rig: Rig): Promise<WsPeer> {
  const peer = await WsPeer.open(`ws://127.0.0.1:${rig.signalling.ports().ws}`);
  cleanUp.push(() => peer.close());
  return peer;
}

const INSTANCE = '+sip.instance="<urn:uuid:00000000-0000-1000-8000-00000000000a>"';

/** Registers `contact` with these parameters and returns the response. */
async function register(
  peer: WirePeer,
  params: string,
  more: readonly string[] = ['Supported: outbound, path'],
): Promise<string> {
  const lines = { method: 'REGISTER', uri: 'sip:127.0.0.1', to: '<sip:alice@127.0.0.1>' };
  registered += 1;
  const callId = `reg-${registered}`;
  await authenticated(peer, { ...lines, callId, contactParams: params, more });
  return peer.read('SIP/2.0 ');
}
let registered = 0;

const invite = (rig: Rig, events: Partial<OutboundLegEvents> = {}) =>
  rig.signalling.invite(
    { kind: 'endpoint', username: 'alice' },
    { from: { user: 'bob', displayName: '' }, sdp: SDP, headers: [] },
    { ...QUIET, progress: () => undefined, connected: () => undefined, ...events },
  );

/** Refuses our INVITE. */
const refuse = (peer: WirePeer, request: string, status: string): void => {
  const names = ['Via', 'From', 'Call-ID', 'CSeq'];
  const echoed = names.map((name) => `${name}: ${headerOf(request, name)}`);
  const to = `To: ${headerOf(request, 'To')};tag=x`;
  peer.write([`SIP/2.0 ${status}`, ...echoed, to, 'Content-Length: 0', '', ''].join('\r\n'));
};

describe('flows of one phone (RFC 5626)', () => {
  it('are confirmed, distinguished by reg-id, and replaced by the same number', async () => {
    const rig = await rigOf();
    const [one, two] = [await browser(rig), await browser(rig)];
    const ok = await register(one, `;${INSTANCE};reg-id=1`);
    expect(headerOf(ok, 'Require')).toBe('outbound');
    expect(headerOf(ok, 'Contact')).toContain(`${INSTANCE};reg-id=1`);
    await register(two, `;${INSTANCE};reg-id=2`);
    expect(rig.signalling.registrations()).toHaveLength(2);
    await register(two, `;${INSTANCE};reg-id=1`);
    expect(rig.signalling.registrations().map(({ regId }) => regId)).toEqual([1, 2]);
    // A flow over a connection ends with the process and is not stored.
    expect(rig.bindings.rows.size).toBe(0);
  });

  it('ring once, over the latest; the other one follows when it is closed or has failed', async () => {
    const rig = await rigOf();
    const [one, two] = [await browser(rig), await browser(rig)];
    await register(one, `;${INSTANCE};reg-id=1`);
    await register(two, `;${INSTANCE};reg-id=2`);
    invite(rig);
    const first = await two.read('INVITE');
    expect(one.texts.some((text) => text.startsWith('INVITE'))).toBe(false);
    refuse(two, first, '430 Flow Failed');
    const second = await one.read('INVITE');
    expect(headerOf(second, 'Call-ID')).toBe(headerOf(first, 'Call-ID'));
    // The binding of the failed flow has been removed.
    expect(rig.signalling.registrations().map(({ regId }) => regId)).toEqual([1]);
    refuse(one, second, '486 Busy Here');
    await register(two, `;${INSTANCE};reg-id=2`);
    invite(rig);
    await two.read('INVITE');
    two.close();
    await one.read('INVITE');
  });

  it('do not retry a refusal of the phone over the other flow', async () => {
    const rig = await rigOf();
    const [one, two] = [await browser(rig), await browser(rig)];
    await register(one, `;${INSTANCE};reg-id=1`);
    await register(two, `;${INSTANCE};reg-id=2`);
    const ended = new Promise((resolve) => invite(rig, { ended: resolve }));
    refuse(two, await two.read('INVITE'), '486 Busy Here');
    expect(await ended).toMatchObject({ status: 486 });
    expect(one.texts.some((text) => text.startsWith('INVITE'))).toBe(false);
  });

  it('reach both of two phones with the same private address', async () => {
    const rig = await rigOf();
    const [one, two] = [await browser(rig), await browser(rig)];
    await register(one, `;${INSTANCE};reg-id=1`);
    await register(two, `;${INSTANCE.replace('0a>', '0b>')};reg-id=1`);
    invite(rig);
    await one.read('INVITE');
    await two.read('INVITE');
  });

  it('require support by the proxy: 439 without it, 400 for several contacts', async () => {
    const rig = await rigOf();
    const peer = await UdpPeer.open(rig.signalling.port());
    cleanUp.push(() => peer.close());
    const via = 'Via: SIP/2.0/UDP 192.0.2.9;branch=z9hG4bKua';
    const supported = 'Supported: outbound, path';
    expect(await register(peer, `;${INSTANCE};reg-id=1`, [via, supported])).toContain(' 439 ');
    const path = 'Path: <sip:edge.example;lr>';
    expect(await register(peer, `;${INSTANCE};reg-id=1`, [via, supported, path])).toContain('439');
    const retained = 'Path: <sip:t0ken@edge.example;lr;ob>';
    expect(await register(peer, `;${INSTANCE};reg-id=1`, [via, supported, retained])).toContain(
      '200',
    );
    const second = `Contact: <sip:alice@127.0.0.1:9>;${INSTANCE};reg-id=2`;
    expect(await register(peer, `;${INSTANCE};reg-id=1`, [supported, second])).toContain('400');
  });

  it('ignore reg-id without an instance; Require: outbound is supported', async () => {
    const rig = await rigOf();
    const peer = await browser(rig);
    const ok = await register(peer, ';reg-id=1', ['Require: outbound']);
    expect(ok).toContain('200');
    expect(headerOf(ok, 'Require')).toBe('');
  });

  it('are removed immediately with their connection', async () => {
    const rig = await rigOf();
    const peer = await browser(rig);
    await register(peer, `;${INSTANCE};reg-id=1`);
    peer.write(requestText(peer, { method: 'OPTIONS', uri: 'sip:127.0.0.1', callId: 'o' }));
    await peer.read('200');
    peer.close();
    await until(() => !rig.signalling.isRegistered('alice'));
  });
});
