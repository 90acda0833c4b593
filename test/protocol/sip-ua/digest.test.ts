import { describe, expect, it } from 'vitest';
import { hashHex } from '../../../src/base/hash.ts';
import type { Random } from '../../../src/base/ids.ts';
import {
  answerChallenge,
  strongestChallenge,
} from '../../../src/protocol/sip/auth/answer-challenge.ts';
import { DigestAuthenticator } from '../../../src/protocol/sip/auth/authenticator.ts';
import { readDigestCredentials } from '../../../src/protocol/sip/auth/credentials.ts';
import {
  DIGEST_ALGORITHMS,
  digestAlgorithm,
  digestResponse,
  ha1Of,
} from '../../../src/protocol/sip/auth/digest.ts';
import { FailureLimit } from '../../../src/protocol/sip/auth/failure-limit.ts';
import { LockOut } from '../../../src/protocol/sip/auth/lock-out.ts';
import { NonceMint } from '../../../src/protocol/sip/auth/nonce.ts';
import type { Flow } from '../../../src/protocol/sip/transport/flow.ts';

const countingRandom = (): Random => {
  let last = 0;
  const next = (): number => {
    last += 1;
    return last;
  };
  return {
    bytes: (length) => Uint8Array.from({ length }, () => next() & 0xff),
    integer: (below) => next() % below,
  };
};

/** Splits `Digest a=b, c="d"` at commas; sufficient for values without commas in quotes. */
function parsed(value: string): { scheme: string; params: Map<string, string> } {
  const params = new Map<string, string>();
  for (const part of value.slice('Digest '.length).split(', ')) {
    const at = part.indexOf('=');
    params.set(part.slice(0, at), part.slice(at + 1).replace(/^"|"$/g, ''));
  }
  return { scheme: 'Digest', params };
}

const SOURCE = '192.0.2.7';
const at = (nowMs: number, method = 'REGISTER', sameUri = true) => ({
  source: SOURCE,
  nowMs,
  method,
  sameUri,
});

/** Shared nonces, valid from time 0. */
const SHARED = { key: new Uint8Array(32), offsetMs: 0, sinceMs: -1 };

describe('digest computation', () => {
  const mufasa = {
    method: 'GET',
    uri: '/dir/index.html',
    nonce: '7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v',
    protection: {
      qop: 'auth',
      nonceCount: '00000001',
      cnonce: 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ',
    },
  } as const;

  it.each([
    ['MD5', '8ca523f5e9506fed4657c9700eebdbec'],
    ['SHA-256', '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1'],
  ] as const)('gives the response of RFC 7616 §3.9.1 for %s', (algorithm, expected) => {
    const ha1 = ha1Of(algorithm, 'Mufasa', 'http-auth@example.org', 'Circle of Life');
    expect(digestResponse({ ...mufasa, algorithm, ha1 })).toBe(expected);
  });

  it('gives the response of RFC 2617 §3.5', () => {
    const ha1 = ha1Of('MD5', 'Mufasa', 'testrealm@host.com', 'Circle Of Life');
    const response = digestResponse({
      algorithm: 'MD5',
      ha1,
      method: 'GET',
      uri: '/dir/index.html',
      nonce: 'dcd98b7102dd2f0e8b11d0f600bfb0c093',
      protection: { qop: 'auth', nonceCount: '00000001', cnonce: '0a4f113b' },
    });
    expect(response).toBe('6629fae49393a05397450978507c4ef1');
  });

  it('gives the response of RFC 2069 without qop', () => {
    const ha1 = ha1Of('MD5', 'Mufasa', 'testrealm@host.com', 'CircleOfLife');
    const response = digestResponse({
      algorithm: 'MD5',
      ha1,
      method: 'GET',
      uri: '/dir/index.html',
      nonce: 'dcd98b7102dd2f0e8b11d0f600bfb0c093',
      protection: undefined,
    });
    expect(response).toBe('1949323746fe6a43ef61f9606e7febea');
  });

  it('computes SHA-512-256 as SHA-512/256 of FIPS 180-4, over UTF-8 (RFC 7616 §3.9.2, erratum 4897)', () => {
    expect(hashHex('sha512-256', 'J\u00e4s\u00f8n Doe:api@example.org')).toBe(
      '793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b',
    );
    expect(hashHex('sha512-256', 'abc')).toBe(
      '53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23',
    );
  });

  it('reads algorithm names in any case and uses MD5 without a name (RFC 7616 §3.3)', () => {
    expect(digestAlgorithm('sha-256')).toBe('SHA-256');
    expect(digestAlgorithm(undefined)).toBe('MD5');
    expect(digestAlgorithm('SHA-256-sess')).toBeUndefined();
  });
});

describe('digest server', () => {
  const account = { username: 'alice4821', password: 'wonderland' };
  const realm = 'carillon';
  const secrets = Object.fromEntries(
    DIGEST_ALGORITHMS.map((a) => [a, ha1Of(a, account.username, realm, account.password)]),
  ) as Record<(typeof DIGEST_ALGORITHMS)[number], string>;
  const setup = () => {
    const nonces = new NonceMint(realm, countingRandom(), { lifetimeMs: 1000, maxRemembered: 3 });
    return new DigestAuthenticator(realm, nonces, 'strongest');
  };
  const answer = (challenge: string, nonceCount = 1, password = account.password, qop = true) => {
    const understood = strongestChallenge([parsed(challenge)]);
    if (understood === undefined) throw new Error('challenge not understood');
    const value = answerChallenge(
      { ...understood, qopAuth: qop },
      { ...account, password },
      { method: 'REGISTER', uri: 'sip:carillon' },
      nonceCount,
      countingRandom(),
    );
    const credentials = readDigestCredentials(parsed(value).params);
    if (credentials === undefined) throw new Error(`unreadable credentials ${value}`);
    return credentials;
  };

  it('offers the strongest algorithm first (RFC 8760 §2.4), or MD5 for clients that read only one challenge', () => {
    const names = setup()
      .challenges(at(0), false)
      .map((value) => parsed(value).params.get('algorithm'));
    expect(names).toEqual(['SHA-512-256', 'SHA-256', 'MD5']);
    const compatible = new DigestAuthenticator(
      realm,
      new NonceMint(realm, countingRandom()),
      'compatible',
    );
    expect(compatible.challenges(at(0), false)[0]).toContain('algorithm=MD5');
  });

  it('offers only MD5 to user agents that fail on any other challenge', () => {
    const challenges = setup().challenges(at(0), false, {
      userAgent: 'baresip v1.0.0 (x86_64/linux)',
    });
    expect(challenges).toHaveLength(1);
    expect(challenges[0]).toContain('algorithm=MD5');
    expect(setup().challenges(at(0), false, { userAgent: 'baresip v3.1.0' })).toHaveLength(3);
    expect(setup().challenges(at(0), false, { isBrowser: true })).toHaveLength(1);
  });

  it.each(DIGEST_ALGORITHMS)('accepts the correct password with %s', (algorithm) => {
    const server = setup();
    const challenge = server
      .challenges(at(0), false)
      .find((v) => v.includes(`algorithm=${algorithm},`));
    const credentials = answer(challenge ?? '');
    expect(credentials.algorithm).toBe(algorithm);
    expect(server.verify(credentials, at(0, 'REGISTER', true), secrets)).toBe('ok');
  });

  it('refuses a wrong password, another method and an unknown user alike', () => {
    const server = setup();
    const [challenge = ''] = server.challenges(at(0), false);
    expect(server.verify(answer(challenge, 1, 'guess'), at(0, 'REGISTER', true), secrets)).toBe(
      'wrong',
    );
    expect(server.verify(answer(challenge), at(0, 'INVITE', true), secrets)).toBe('wrong');
    expect(server.verify(answer(challenge), at(0, 'REGISTER', true), undefined)).toBe('wrong');
  });

  it('refuses an unknown user whose response was computed without a secret', () => {
    const server = setup();
    const [challenge = ''] = server.challenges(at(0), false);
    const credentials = answer(challenge);
    const forged = digestResponse({ ...credentials, ha1: '', method: 'REGISTER' });
    const guess = { ...credentials, response: forged };
    expect(server.verify(guess, at(0), undefined)).toBe('wrong');
  });

  it('accepts a response in upper case', () => {
    const server = setup();
    const [challenge = ''] = server.challenges(at(0), false);
    const credentials = answer(challenge);
    const response = credentials.response.toUpperCase();
    expect(server.verify({ ...credentials, response }, at(0), secrets)).toBe('ok');
  });

  it('detects credentials for another Request-URI (RFC 7616 §3.4.6)', () => {
    const server = setup();
    const [challenge = ''] = server.challenges(at(0), false);
    expect(server.verify(answer(challenge), at(0, 'REGISTER', false), secrets)).toBe('wrongUri');
  });

  it('reports correct credentials as stale if the nonce is expired, replayed or foreign (stale=true)', () => {
    const server = setup();
    const [challenge = ''] = server.challenges(at(0), false);
    expect(server.verify(answer(challenge), at(1001, 'REGISTER', true), secrets)).toBe('stale');
    expect(server.verify(answer(challenge), at(10, 'REGISTER', true), secrets)).toBe('ok');
    expect(server.verify(answer(challenge), at(11, 'REGISTER', true), secrets)).toBe('stale');
    expect(server.verify(answer(challenge, 2), at(12, 'REGISTER', true), secrets)).toBe('ok');
    const [foreign = ''] = new DigestAuthenticator(
      realm,
      new NonceMint(realm, countingRandom(), undefined, SHARED),
      'strongest',
    ).challenges(at(0), false);
    expect(server.verify(answer(foreign), at(0, 'REGISTER', true), secrets)).toBe('stale');
    expect(server.challenges(at(0), true)[0]).toContain('stale=true');
  });

  it('refuses a nonce issued to another source without checking the password', () => {
    const server = setup();
    const [challenge = ''] = server.challenges({ source: '192.0.2.8', nowMs: 0 }, false);
    expect(server.verify(answer(challenge), at(0), secrets)).toBe('stale');
    expect(server.verify(answer(challenge, 1, 'guess'), at(0), secrets)).toBe('stale');
    const there = { ...at(0), source: '192.0.2.8' };
    expect(server.verify(answer(challenge), there, secrets)).toBe('ok');
  });

  it('accepts a client of RFC 2069 once per nonce', () => {
    const server = setup();
    const [challenge = ''] = server.challenges(at(0), false);
    const old = () => answer(challenge, 1, account.password, false);
    expect(old().protection).toBeUndefined();
    expect(server.verify(old(), at(0, 'REGISTER', true), secrets)).toBe('ok');
    expect(server.verify(old(), at(0, 'REGISTER', true), secrets)).toBe('stale');
  });
});

describe('nonces', () => {
  it('accept counts out of order inside a window, each once', () => {
    const mint = new NonceMint('carillon', countingRandom());
    const nonce = mint.mint(SOURCE, 0);
    expect([3, 1, 2, 3, 1, 100, 99, 30].map((count) => mint.use(nonce, count, 0))).toEqual([
      true,
      true,
      true,
      false,
      false,
      true,
      true,
      false,
    ]);
  });

  it('cannot be replayed after eviction from the bounded memory', () => {
    const mint = new NonceMint('carillon', countingRandom(), {
      lifetimeMs: 10_000,
      maxRemembered: 2,
    });
    const nonces = [10, 20, 30].map((ms) => mint.mint(SOURCE, ms));
    for (const nonce of nonces) mint.use(nonce, 1, 0);
    expect(nonces.map((nonce) => mint.examine(nonce, SOURCE, 40))).toEqual([
      'stale',
      'valid',
      'valid',
    ]);
  });

  it('that are remembered stay valid although a later one was evicted', () => {
    const limits = { lifetimeMs: 10_000, maxRemembered: 2 };
    const mint = new NonceMint('carillon', countingRandom(), limits);
    const [early = '', late = '', next = ''] = [5, 10, 30].map((ms) => mint.mint(SOURCE, ms));
    mint.use(late, 1, 0);
    mint.use(early, 1, 0);
    mint.use(next, 1, 0);
    expect(mint.examine(late, SOURCE, 40)).toBe('stale');
    expect(mint.examine(early, SOURCE, 40)).toBe('valid');
  });

  it('are valid for one realm only', () => {
    const here = new NonceMint('here', countingRandom(), undefined, SHARED);
    const there = new NonceMint('there', countingRandom(), undefined, SHARED);
    expect(there.examine(here.mint(SOURCE, 0), SOURCE, 0)).toBe('forged');
  });

  it('with a shared key are valid on all nodes of a realm with different monotonic clocks', () => {
    const key = new Uint8Array(32);
    const [aSec, bSec] = [1_000_000, 7_000_000];
    const a = new NonceMint('r', countingRandom(), undefined, { key, offsetMs: aSec, sinceMs: -1 });
    const b = new NonceMint('r', countingRandom(), undefined, {
      key,
      offsetMs: bSec,
      sinceMs: -6e6,
    });
    const atB = (ms: number): number => ms + aSec - bSec;
    const nonce = a.mint(SOURCE, 5000);
    expect(b.examine(nonce, SOURCE, atB(6000))).toBe('valid');
    expect(b.examine(nonce, SOURCE, atB(3000))).toBe('valid'); // clock of node B is 2 s behind
    expect(b.examine(nonce, SOURCE, atB(5000 + 300_001))).toBe('stale');
    expect(b.examine(nonce, 'udp 192.0.2.99 5060', atB(6000))).toBe('forged');
  });

  it('with a shared key issued before this node started count as stale, because they may have been used', () => {
    const key = new Uint8Array(32);
    const before = new NonceMint('r', countingRandom(), undefined, {
      key,
      offsetMs: 0,
      sinceMs: -1,
    });
    const nonce = before.mint(SOURCE, 1000);
    const after = new NonceMint('r', countingRandom(), undefined, {
      key,
      offsetMs: 0,
      sinceMs: 2000,
    });
    expect(after.examine(nonce, SOURCE, 3000)).toBe('stale');
  });

  it('are forged if any character differs', () => {
    const mint = new NonceMint('carillon', countingRandom());
    const nonce = mint.mint(SOURCE, 5);
    for (let i = 0; i < nonce.length; i += 1) {
      const changed = nonce.slice(0, i) + (nonce[i] === 'x' ? 'y' : 'x') + nonce.slice(i + 1);
      expect(mint.examine(changed, SOURCE, 5)).toBe('forged');
    }
  });
});

describe('digest client', () => {
  it('selects the strongest supported challenge and ignores the others (RFC 8760 §2.4)', () => {
    const chosen = strongestChallenge([
      { scheme: 'NoOneKnows', params: new Map([['realm', 'x']]) },
      parsed('Digest realm="r", nonce="1", algorithm=MD5'),
      parsed('Digest realm="r", nonce="2", algorithm=SHA-256, qop="auth"'),
      parsed('Digest realm="r", nonce="3", algorithm=SHA-3, qop="auth"'),
    ]);
    expect(chosen?.nonce).toBe('2');
    expect(
      strongestChallenge([parsed('Digest realm="r", nonce="1", qop="auth-int"')]),
    ).toBeUndefined();
  });
});

describe('credentials of a client', () => {
  const challenge =
    'Digest realm="r", nonce="n", qop="auth", opaque="o", algorithm=MD5, stale=TRUE';
  const written = (nonceCount: number) => {
    const understood = strongestChallenge([parsed(challenge)]);
    if (understood === undefined) throw new Error('challenge not understood');
    const account = { username: 'alice', password: 'wonderland' };
    const request = { method: 'REGISTER', uri: 'sip:carillon' };
    return parsed(answerChallenge(understood, account, request, nonceCount, countingRandom()))
      .params;
  };

  it('contain the nonce count in hexadecimal and the opaque value', () => {
    expect(written(26).get('nc')).toBe('0000001a');
    expect(written(1).get('opaque')).toBe('o');
    expect(strongestChallenge([parsed(challenge)])?.stale).toBe(true);
  });

  it.each([
    ['qop', 'auth-int'],
    ['nc', '1'],
    ['nc', '0000000g'],
    ['username', 'a'.repeat(257)],
    ['algorithm', 'SHA-3'],
  ])('are unreadable with %s=%s', (name, value) => {
    expect(readDigestCredentials(written(1))).toMatchObject({ username: 'alice' });
    expect(readDigestCredentials(written(1).set(name, value))).toBeUndefined();
  });

  it.each(['nc', 'cnonce', 'uri', 'response', 'nonce', 'realm', 'username'])(
    'are unreadable without %s',
    (name) => {
      const params = written(1);
      params.delete(name);
      expect(readDigestCredentials(params)).toBeUndefined();
    },
  );
});

describe('failure limit', () => {
  it('forgets the oldest of too many sources', () => {
    const limit = new FailureLimit({ maxFailures: 1, windowMs: 1000, maxSources: 2 });
    for (const source of ['a', 'b', 'c']) limit.note(source, 0);
    expect(['a', 'b', 'c'].map((source) => limit.blockedForMs(source, 1))).toEqual([
      undefined,
      999,
      999,
    ]);
  });

  it('blocks a source after too many failures and unblocks it when the window has elapsed', () => {
    const limit = new FailureLimit({ maxFailures: 2, windowMs: 1000, maxSources: 2 });
    limit.note('192.0.2.1', 0);
    expect(limit.blockedForMs('192.0.2.1', 1)).toBeUndefined();
    limit.note('192.0.2.1', 100);
    expect(limit.blockedForMs('192.0.2.1', 400)).toBe(600);
    expect(limit.blockedForMs('192.0.2.2', 400)).toBeUndefined();
    expect(limit.blockedForMs('192.0.2.1', 1000)).toBeUndefined();
  });
});

describe('lock-out', () => {
  const flow = (address: string, port: number): Flow => ({
    transport: 'udp',
    localAddress: '192.0.2.1',
    localPort: 5060,
    remoteAddress: address,
    remotePort: port,
    connectionId: undefined,
  });
  const fail = (lockOut: LockOut, from: Flow, times: number, user = 'alice'): void => {
    for (let i = 0; i < times; i += 1) lockOut.failed(from, user, 0);
  };

  it('counts per source and user', () => {
    const lockOut = new LockOut();
    fail(lockOut, flow('192.0.2.7', 1000), 10);
    expect(lockOut.lock(flow('192.0.2.7', 1000), 'alice', 1)).toEqual({
      forMs: 59_999,
      lasting: true,
    });
    expect(lockOut.lock(flow('192.0.2.7', 1000), 'bob', 1)).toBeUndefined();
    expect(lockOut.lock(flow('192.0.2.7', 1001), 'alice', 1)).toBeUndefined();
    expect(lockOut.lock(flow('192.0.2.8', 1000), 'alice', 1)).toBeUndefined();
  });

  it('never blocks an authenticated phone because of failures of others behind the same address', () => {
    const lockOut = new LockOut();
    lockOut.passed(flow('192.0.2.7', 5060), 'alice');
    for (let port = 1000; port < 1100; port += 1) fail(lockOut, flow('192.0.2.7', port), 9);
    expect(lockOut.lock(flow('192.0.2.7', 5060), 'alice', 1)).toBeUndefined();
    expect(lockOut.lock(flow('192.0.2.7', 5061), 'bob', 1)).toBeUndefined();
    expect(lockOut.lock(flow('192.0.2.7', 5061), 'alice', 1)).toMatchObject({ lasting: false });
  });

  it('blocks a flow that guesses with many user names', () => {
    const lockOut = new LockOut();
    const guesser = flow('192.0.2.7', 1000);
    for (let n = 0; n < 50; n += 1) fail(lockOut, guesser, 1, `user${n}`);
    expect(lockOut.lock(guesser, 'another', 1)).toMatchObject({ lasting: true });
  });
});
