/** Our SRTP keys in later descriptions: a key whose packets the media engine no longer counts is never used again. */
import { describe, expect, it } from 'vitest';
import { type CodecName, srtpRule } from '../../../src/domain/call/needs.ts';
import { Negotiation } from '../../../src/domain/call/negotiate.ts';

const CODECS: readonly CodecName[] = ['PCMU'];
const RULE = srtpRule('optional', { secured: true });
const CM_80 = 'AES_CM_128_HMAC_SHA1_80';
const CM_32 = 'AES_CM_128_HMAC_SHA1_32';
const FINGERPRINT = `sha-256 ${Array.from({ length: 32 }, () => 'AB').join(':')}`;

const linesOf = (suite: string): readonly string[] => {
  if (suite === 'none') return [];
  if (suite === 'dtls') return [`a=fingerprint:${FINGERPRINT}`, 'a=setup:actpass'];
  return [`a=crypto:1 ${suite} inline:${Buffer.alloc(30, 7).toString('base64')}`];
};

const described = (suite: string): string =>
  [
    ...['v=0', 'o=- 1 1 IN IP4 192.0.2.1', 's=-', 'c=IN IP4 192.0.2.1', 't=0 0'],
    `m=audio 40000 RTP/${suite === 'none' ? 'AVP' : 'SAVP'} 0`,
    ...linesOf(suite),
    '',
  ].join('\r\n');

/** A session with functions that answer the peer's offer and offer again; both return our key for the suite. */
function session() {
  let bytes = 0;
  const negotiation = new Negotiation(
    { address: '198.51.100.1', port: 20_000 },
    {
      sessionId: 1,
      bytes: (length) => {
        bytes += 1;
        return new Uint8Array(length).fill(bytes);
      },
      fingerprint: FINGERPRINT,
    },
  );
  const keyIn = (sdp: string, suite: string): string =>
    new RegExp(`a=crypto:\\d+ ${suite} inline:(\\S+)`).exec(sdp)?.[1] ?? '';
  const answer = (suite: string): string => {
    const answered = negotiation.answer(described(suite), RULE, {
      families: ['IP4'],
      codecs: CODECS,
    });
    if (!answered.ok) throw new Error(answered.error.detail);
    return keyIn(answered.value.sdp, suite);
  };
  const offer = (suite: string): string => keyIn(negotiation.offer(RULE, CODECS, 'IP4'), suite);
  return { negotiation, answer, offer };
}

describe('our DTLS role', () => {
  const others = FINGERPRINT.replaceAll('AB', 'CD');
  const later = (setup: string, fingerprint = FINGERPRINT): string =>
    described('dtls').replace('actpass', setup).replace(FINGERPRINT, fingerprint);

  it.each([
    ['stays, as a new handshake would not take place', later('actpass'), 'active'],
    ['follows the peer', later('active'), 'passive'],
    ['is that of a new association for another certificate', later('actpass', others), 'passive'],
  ])('after an answer with setup:passive %s', (_, offer, setup) => {
    const { negotiation } = session();
    negotiation.offers({ ...RULE, byDtls: true }, CODECS);
    const settled = negotiation.settle(later('passive').replace('RTP/SAVP', 'UDP/TLS/RTP/SAVPF'));
    expect(settled.ok && settled.value.protection).toMatchObject({ role: 'client' });
    const answered = negotiation.answer(offer, RULE, { families: ['IP4'], codecs: CODECS });
    const role = setup === 'active' ? 'client' : 'server';
    expect(answered.ok && answered.value.remote.protection).toMatchObject({ role });
    expect(answered.ok && answered.value.sdp).toContain(`a=setup:${setup}\r\n`);
  });
});

describe('our offer in a call with SRTP, to a re-INVITE without an offer', () => {
  const unsecured = srtpRule('optional', { secured: false });

  it.each([CM_80, CM_32])('keeps %s, its key and the profile', (suite) => {
    const { negotiation, answer } = session();
    const key = answer(suite);
    const offer = negotiation.offer(unsecured, CODECS);
    expect(offer).toMatch(/^m=audio 20000 RTP\/SAVP 0/m);
    expect(offer).toContain(`a=crypto:1 ${suite} inline:${key}\r\n`);
  });

  it('has no keys in a call without SRTP, and in a new dialog', () => {
    const { negotiation, answer } = session();
    answer('none');
    expect(negotiation.offer(unsecured, CODECS)).not.toContain('crypto');
    answer(CM_80);
    expect(negotiation.offers(unsecured, CODECS).sdp).not.toContain('crypto');
  });
});

describe('our SRTP key', () => {
  it('stays the same while the suite does, also in our offers', () => {
    const { answer, offer } = session();
    const key = answer(CM_80);
    expect(key).not.toBe('');
    expect(answer(CM_80)).toBe(key);
    expect(offer(CM_80)).toBe(key);
    expect(answer(CM_80)).toBe(key);
  });

  it.each([CM_32, 'none', 'dtls'])('is a new one after the session has used %s', (other) => {
    const { answer, offer } = session();
    const key = answer(CM_80);
    answer(other);
    expect(answer(CM_80)).not.toBe(key);
    const latest = offer(CM_80);
    expect(answer(CM_80)).toBe(latest);
  });
});
