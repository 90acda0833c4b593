/** ACKs to 2xx and later requests of a dialog: their credentials, targets and transport. */
import { describe, expect, it } from 'vitest';
import { asLegId } from '../../../src/base/ids.ts';
import type { SipRequest } from '../../../src/protocol/sip/message.ts';
import type { SipTransportName } from '../../../src/protocol/sip/types.ts';
import type { InviteCommand } from '../../../src/protocol/sip/user-agent-types.ts';
import { answering, inviteCommand, PEER, reply, SERVER } from './script.ts';
import { ANSWER, World } from './world.ts';

const [DEAD, OTHER] = ['192.0.2.8', '192.0.2.7'];

/** A call to a peer that answers each INVITE by a rule, and other requests with 200. */
function calling(rule: (invite: SipRequest) => readonly Uint8Array[], world = new World()) {
  const caller = world.agent(SERVER, { realm: 'carillon.test' });
  const peer = world.peer(PEER);
  answering(peer, (request) => {
    if (request.method === 'INVITE') return rule(request);
    return request.method === 'ACK' ? undefined : reply(request, 200);
  });
  const call = (more: Partial<InviteCommand> = {}): void => {
    caller.dispatch(inviteCommand(more));
    world.advance(50);
  };
  const hangup = (): void => {
    caller.dispatch({ kind: 'hangup', leg: asLegId(2), status: 487, reason: undefined });
    world.advance(50);
  };
  const count = (method: string): number =>
    peer.received.filter((m) => m.kind === 'request' && m.method === method).length;
  return { world, caller, peer, call, hangup, count };
}

const at = (address: string, transport: SipTransportName) => ({ transport, address, port: 5060 });
const accept = (contact: string) => (invite: SipRequest) => [
  reply(invite, 200, { body: ANSWER, contact }),
];

describe('ACK to a 2xx', () => {
  it('repeats the credentials of its INVITE (RFC 3261 §22.1)', () => {
    const challenge = 'Digest realm="carrier", nonce="n1", qop="auth"';
    const { peer, call } = calling((invite) =>
      invite.header('authorization') === undefined
        ? [reply(invite, 401, { headers: [['WWW-Authenticate', challenge]] })]
        : [reply(invite, 200, { body: ANSWER })],
    );
    call({ account: { username: 'alice', password: 'wonderland' } });
    const credentials = peer.lastRequest('INVITE').headers('authorization');
    expect(credentials).toHaveLength(1);
    expect(peer.lastRequest('ACK').headers('authorization')).toEqual(credentials);
  });

  it('carries no credentials to another host than that of its INVITE', () => {
    const world = new World();
    const other = world.peer(OTHER);
    const challenge = 'Digest realm="carrier", nonce="n1", qop="auth"';
    const { call } = calling(
      (invite) =>
        invite.header('authorization') === undefined
          ? [reply(invite, 401, { headers: [['WWW-Authenticate', challenge]] })]
          : [reply(invite, 200, { body: ANSWER, contact: `<sip:callee@${OTHER}>` })],
      world,
    );
    call({ account: { username: 'alice', password: 'wonderland' } });
    expect(other.lastRequest('ACK').header('authorization')).toBeUndefined();
  });

  it('avoids an address of the name that did not respond to the INVITE', () => {
    const world = new World();
    world.dns.set('carrier.test', [at(DEAD, 'udp'), at(PEER, 'udp')]);
    const { peer, call } = calling(accept('<sip:callee@carrier.test>'), world);
    call({ target: { kind: 'uri', uri: 'sip:bob@carrier.test' }, firstResponseMs: 4_000 });
    world.advance(5_000);
    expect(peer.lastRequest('ACK').requestUri).toBe('sip:callee@carrier.test');
  });

  it('tries the next address if the transport is unsupported or the connection is refused', () => {
    const world = new World();
    world.dns.set('carrier.test', [at(OTHER, 'tls'), at(DEAD, 'tcp'), at(PEER, 'tcp')]);
    world.refusing.add(`${DEAD}:5060`);
    const { peer, call } = calling(accept('<sip:callee@carrier.test>'), world);
    call();
    expect(peer.lastRequest('ACK').via.transport).toBe('TCP');
  });

  it.each([
    ['the name has no address', `sip:callee@carrier.test`],
    ['all connections are refused', `sip:callee@${PEER};transport=tcp`],
  ])('is tried again for a repeated 2xx if %s', (_, contact) => {
    const world = new World();
    world.dns.set('carrier.test', []);
    world.refusing.add(`${PEER}:5060`);
    const { peer, call, count } = calling(accept(`<${contact}>`), world);
    call();
    expect(count('ACK')).toBe(0);
    world.dns.set('carrier.test', [at(PEER, 'udp')]);
    world.refusing.clear();
    const again = (): void => {
      const ok = reply(peer.lastRequest('INVITE'), 200, { body: ANSWER, contact: `<${contact}>` });
      peer.sendText(SERVER, ok);
      world.advance(50);
    };
    again();
    expect(count('ACK')).toBe(1);
    again();
    expect(count('ACK')).toBe(2);
  });

  it('is sent to a limited number of forks of one INVITE', () => {
    const { caller, call, count, world } = calling((invite) =>
      Array.from({ length: 40 }, (_, fork) =>
        reply(invite, 200, { tag: `fork-${fork}`, body: ANSWER }),
      ),
    );
    call();
    expect(count('ACK')).toBe(16);
    expect(count('BYE')).toBe(15);
    world.advance(40_000);
    expect(caller.ua.dialogs).toBe(1);
  });
});

it('keeps the transport of a dialog whose connection has closed', () => {
  const { world, caller, call, hangup, peer } = calling(accept(`<sip:callee@${PEER}>`));
  call({ target: { kind: 'uri', uri: `sip:bob@${PEER};transport=tcp` } });
  expect(peer.lastRequest('ACK').via.transport).toBe('TCP');
  caller.dispatch({ kind: 'connectionLost', connectionId: 1 });
  caller.dispatch({
    kind: 'refer',
    leg: asLegId(2),
    to: 'sip:x@y.test',
    by: 'a',
    guard: undefined,
  });
  world.advance(50);
  expect(peer.lastRequest('REFER').contact?.uri).toMatchObject({
    params: new Map([['transport', 'tcp']]),
  });
  hangup();
  expect(peer.lastRequest('BYE').via.transport).toBe('TCP');
});
