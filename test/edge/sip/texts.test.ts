/** MESSAGE on the wire (RFC 3428). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { InboundText } from '../../../src/domain/call/needs.ts';
import { authenticated, headerOf, type Rig, requestText, startRig, UdpPeer } from './rig.ts';

let rig: Rig;
let alice: UdpPeer;
let arrived: InboundText[];

beforeEach(async () => {
  rig = await startRig({ messageMaxBytes: 100 });
  alice = await UdpPeer.open(rig.signalling.port());
  arrived = [];
  rig.signalling.texts.onText((text) => {
    arrived.push(text);
    text.answer(403, { why: 'not "today"', retryAfterS: 5 });
  });
});
afterEach(async () => {
  alice.close();
  await rig.signalling.stop();
});

const message = (more: object = {}) => ({
  method: 'MESSAGE',
  uri: 'sip:bob@127.0.0.1',
  callId: 'm1',
  body: 'hallo',
  ...more,
});
const typed = (peer: UdpPeer, type: string, lines: Parameters<typeof requestText>[1]): string =>
  requestText(peer, lines).replace('application/sdp', type);

describe('an incoming text', () => {
  it('is challenged for a password and answered with the decision', async () => {
    const lines = message({ body: '', more: ['Content-Type: text/plain'] });
    await authenticated(alice, lines);
    const answer = await alice.read('403');
    expect(headerOf(answer, 'Warning')).toBe('399 127.0.0.1 "not \\"today\\""');
    expect(headerOf(answer, 'Retry-After')).toBe('5');
    expect(arrived).toMatchObject([
      { endpointUsername: 'alice', dialled: 'bob', contentType: 'text/plain' },
    ]);
  });

  it.each([
    ['413', 'text/plain', 'x'.repeat(101)],
    ['415', 'image/png', 'x'],
  ])('gets %s before authentication', async (status, type, body) => {
    alice.write(typed(alice, type, message({ body })));
    const answer = await alice.read(status);
    if (status === '415') expect(headerOf(answer, 'Accept')).toContain('text/plain');
    expect(arrived).toEqual([]);
  });
});

describe('an outgoing text', () => {
  const register = (peer: UdpPeer, callId: string): Promise<void> =>
    authenticated(peer, {
      method: 'REGISTER',
      uri: 'sip:127.0.0.1',
      to: '<sip:alice@127.0.0.1>',
      callId,
    });
  const send = () =>
    rig.signalling.texts.sendText({
      username: 'alice',
      from: { user: 'bob', displayName: 'Bob' },
      headers: [],
      contentType: 'text/plain',
      body: Buffer.from('hi'),
    });
  const answer = (peer: UdpPeer, text: string, status: string): void => {
    const lines = text.split('\r\n').filter((line) => /^(Via|From|To|Call-ID|CSeq):/.test(line));
    peer.write([`SIP/2.0 ${status}`, ...lines, 'Content-Length: 0', '', ''].join('\r\n'));
  };

  it('is sent to each phone of the user; one success counts for all', async () => {
    const second = await UdpPeer.open(rig.signalling.port());
    for (const [peer, id] of [
      [alice, 'r1'],
      [second, 'r2'],
    ] as const) {
      await register(peer, id);
      await peer.read('200');
    }
    const status = send();
    const [first, other] = await Promise.all([alice.read('MESSAGE'), second.read('MESSAGE')]);
    expect(headerOf(first, 'From')).toMatch(/^"Bob" <sip:bob@127.0.0.1>;tag=/);
    expect(first).toMatch(/\r\n\r\nhi$/);
    answer(second, other, '480 Not here');
    answer(alice, first, '200 OK');
    expect(await status).toBe(200);
    second.close();
  });

  it('without a phone has no status', async () => {
    expect(await send()).toBeUndefined();
  });
});
