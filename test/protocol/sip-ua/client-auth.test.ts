/** Which peers get a digest of our password, and how often. */
import { beforeEach, describe, expect, it } from 'vitest';
import { ClientAuth } from '../../../src/protocol/sip/auth/client-auth.ts';
import { parseAuth } from '../../../src/protocol/sip/header/auth.ts';
import {
  createRequest,
  createResponse,
  type SipRequest,
  type SipResponse,
} from '../../../src/protocol/sip/message.ts';
import { seededRandom } from './world.ts';

const HOST = 'carrier.example';
const request = (method = 'INVITE'): SipRequest =>
  createRequest({
    method,
    requestUri: `sip:100@${HOST}`,
    headers: [
      ['Via', 'SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1'],
      ['From', '<sip:a@192.0.2.1>;tag=1'],
      ['To', `<sip:100@${HOST}>`],
      ['Call-ID', 'c'],
      ['CSeq', `1 ${method}`],
    ],
  });
const challenge = (realm: string, more = '', status = 401): SipResponse =>
  createResponse(request(), status, {
    headers: [
      [
        status === 407 ? 'Proxy-Authenticate' : 'WWW-Authenticate',
        `Digest realm="${realm}", nonce="n", qop="auth"${more}`,
      ],
    ],
  });

let auth: ClientAuth;
beforeEach(() => {
  auth = new ClientAuth({ username: 'alice', password: 'wonderland' }, seededRandom());
  auth.trust(HOST);
});

const counts = (host = HOST, method = 'REGISTER') =>
  auth.headers(request(method), host).map(([, value]) => parseAuth(value)?.params.get('nc'));

describe('a challenge', () => {
  it('is answered for the configured destination, with a rising nonce count', () => {
    expect(counts()).toEqual([]);
    expect(auth.challenged(challenge('r'), HOST, false)).toBe(true);
    expect([counts(), counts()]).toEqual([['00000001'], ['00000002']]);
  });

  it('of another host is not answered, and that host gets no credentials', () => {
    expect(auth.challenged(challenge('r'), 'phone.example', false)).toBe(false);
    auth.challenged(challenge('r'), HOST, false);
    auth.headers(request(), HOST);
    expect(auth.headers(request(), 'phone.example')).toEqual([]);
    auth.headers(request(), HOST);
    expect(auth.ofInvite('phone.example')).toEqual([]);
    expect(auth.ofInvite(HOST)).toHaveLength(1);
  });

  it('is answered again only if it is stale or of the other kind', () => {
    auth.challenged(challenge('r'), HOST, false);
    expect(auth.challenged(challenge('r'), HOST, true)).toBe(false);
    expect(auth.challenged(challenge('r', ', stale=true'), HOST, true)).toBe(true);
    expect(auth.challenged(challenge('r', '', 407), HOST, true)).toBe(true);
    expect(auth.headers(request(), HOST).map(([name]) => name)).toEqual([
      'Authorization',
      'Proxy-Authorization',
    ]);
  });

  it('of a second realm is not answered', () => {
    auth.challenged(challenge('r'), HOST, false);
    expect(auth.challenged(challenge('other'), HOST, false)).toBe(false);
  });

  it('of another realm than the configured one is not answered', () => {
    const account = { username: 'alice', password: 'wonderland', realm: 'r' };
    auth = new ClientAuth(account, seededRandom());
    auth.trust(HOST);
    expect(auth.challenged(challenge('other'), HOST, false)).toBe(false);
    expect(auth.challenged(challenge('r'), HOST, false)).toBe(true);
  });

  it('is answered for up to 32 hosts', () => {
    for (let host = 1; host <= 40; host += 1) auth.trust(`h${host}`);
    expect(auth.challenged(challenge('r'), 'h31', false)).toBe(true);
    expect(auth.challenged(challenge('r'), 'h32', false)).toBe(false);
  });
});
