import { describe, expect, test } from 'vitest';
import { readCryptoLine, writeCryptoLine } from '../../../src/protocol/sdp/crypto.ts';
import type { OfferParts } from '../../../src/protocol/sdp/offer-answer.ts';
import {
  buildAnswer,
  buildOffer,
  chooseAudio,
  readAnswer,
  readOffer,
  type SrtpPolicy,
  staticCodec,
} from '../../../src/protocol/sdp/sdp.ts';

const KEY = Buffer.alloc(30, 7);
const INLINE = `inline:${KEY.toString('base64')}`;
const SHA80 = 'AES_CM_128_HMAC_SHA1_80';
const line = (tag: number, suite = SHA80, rest = ''): string =>
  `a=crypto:${tag} ${suite} ${INLINE}${rest}`;

const sdp = (...media: string[]): string =>
  ['v=0', 'o=- 1 1 IN IP4 192.0.2.7', 's=-', 'c=IN IP4 192.0.2.7', 't=0 0', ...media, ''].join(
    '\r\n',
  );

function choose(text: string, srtp: SrtpPolicy) {
  const offer = readOffer(text);
  if (!offer.ok) return offer.error.kind;
  const choice = chooseAudio(offer.value, { codecs: ['PCMU', 'PCMA'], srtp });
  return choice.ok ? choice.value : choice.error.kind;
}

describe('one line (RFC 4568 §9.2)', () => {
  test.each<[string, string, number | undefined]>([
    ['a key alone', `1 ${SHA80} ${INLINE}`, 0],
    ['with a lifetime', `1 ${SHA80} ${INLINE}|2^20`, 0],
    ['with a key identifier', `1 ${SHA80} ${INLINE}|2^20|1:4`, 4],
    ['with an identifier and no lifetime', `1 ${SHA80} ${INLINE}|1:32`, 32],
    ['with a window size', `1 ${SHA80} ${INLINE} WSH=128`, 0],
    ['a suite in lower case', `1 ${SHA80.toLowerCase()} ${INLINE}`, 0],
    ['two keys', `1 ${SHA80} ${INLINE}|1:4;${INLINE}|2:4`, undefined],
    ['without encryption', `1 ${SHA80} ${INLINE} UNENCRYPTED_SRTP`, undefined],
    ['without authentication', `1 ${SHA80} ${INLINE} UNAUTHENTICATED_SRTP`, undefined],
    ['an unknown suite', `1 F8_128_HMAC_SHA1_80 ${INLINE}`, undefined],
    ['a key of the wrong length', `1 AEAD_AES_128_GCM ${INLINE}`, undefined],
    ['an identifier that is not a number', `1 ${SHA80} ${INLINE}|1:x`, undefined],
    ['no key', `1 ${SHA80}`, undefined],
    ['no tag', `${SHA80} ${INLINE}`, undefined],
    ['nothing', '', undefined],
  ])('%s', (_, value, mkiBytes) => {
    expect(readCryptoLine(value)?.mkiBytes).toBe(mkiBytes);
  });

  test('reads the lines that it writes', () => {
    const key = Uint8Array.from({ length: 44 }, (_, i) => i * 5);
    const written = writeCryptoLine({ tag: 3, suite: 'AEAD_AES_256_GCM', key });
    expect(readCryptoLine(written)).toEqual({
      tag: 3,
      suite: 'AEAD_AES_256_GCM',
      key: Buffer.from(key),
      mkiBytes: 0,
    });
  });
});

describe('selection from an offer', () => {
  const PLAIN = 'm=audio 5000 RTP/AVP 0';
  const SECURE = 'm=audio 5002 RTP/SAVP 0';
  const offers: readonly [string, string, Record<SrtpPolicy, string>][] = [
    ['plain', sdp(PLAIN), { off: 'plain', optional: 'plain', required: 'plainMediaRefused' }],
    [
      'SAVP',
      sdp(SECURE, line(1)),
      { off: 'secureMediaRequired', optional: 'SRTP 1', required: 'SRTP 1' },
    ],
    [
      'AVP with keys',
      sdp(PLAIN, line(2)),
      { off: 'plain', optional: 'SRTP 2', required: 'SRTP 2' },
    ],
    [
      'SAVP without a key',
      sdp(SECURE),
      {
        off: 'secureMediaRequired',
        optional: 'secureMediaRequired',
        required: 'secureMediaRequired',
      },
    ],
    [
      'an unknown suite first',
      sdp(SECURE, line(1, 'AES_CM_999'), line(2)),
      { off: 'secureMediaRequired', optional: 'SRTP 2', required: 'SRTP 2' },
    ],
    [
      'both, plain first',
      sdp(PLAIN, SECURE, line(1)),
      { off: 'plain', optional: 'SRTP 1', required: 'SRTP 1' },
    ],
    [
      'both, SRTP first',
      sdp(SECURE, line(1), PLAIN),
      { off: 'plain', optional: 'SRTP 1', required: 'SRTP 1' },
    ],
    [
      'DTLS and plain',
      sdp('m=audio 5002 UDP/TLS/RTP/SAVPF 0', PLAIN),
      { off: 'plain', optional: 'plain', required: 'secureMediaRequired' },
    ],
    [
      'DTLS alone',
      sdp('m=audio 5002 UDP/TLS/RTP/SAVPF 0'),
      {
        off: 'secureMediaRequired',
        optional: 'secureMediaRequired',
        required: 'secureMediaRequired',
      },
    ],
    [
      'a declined line first',
      sdp('m=audio 0 RTP/AVP 0', PLAIN),
      { off: 'plain', optional: 'plain', required: 'plainMediaRefused' },
    ],
    [
      'a line without a codec of ours first',
      sdp('m=audio 5004 RTP/AVP 18', PLAIN),
      { off: 'plain', optional: 'plain', required: 'noCommonCodec' },
    ],
  ];
  for (const [title, text, expected] of offers) {
    test.each<SrtpPolicy>(['off', 'optional', 'required'])(`${title}, %s`, (policy) => {
      const choice = choose(text, policy);
      const shown =
        typeof choice === 'string'
          ? choice
          : choice.crypto === undefined
            ? 'plain'
            : `SRTP ${choice.crypto.tag}`;
      expect(shown).toBe(expected[policy]);
    });
  }

  test('the answer uses the chosen line, the tag of the offer and our key', () => {
    const offer = readOffer(sdp(PLAIN, SECURE, line(4)));
    if (!offer.ok) throw new Error(offer.error.detail);
    const choice = chooseAudio(offer.value, { codecs: ['PCMU'] });
    if (!choice.ok) throw new Error(choice.error.detail);
    const local = { address: '192.0.2.1', port: 20_000, sessionId: 1, version: 1, ptimeMs: 20 };
    const answer = buildAnswer(offer.value, choice.value, local, { key: Buffer.alloc(30, 9) });
    const lines = answer.split('\r\n');
    expect(lines.filter((text) => text.startsWith('m='))).toEqual([
      'm=audio 0 RTP/AVP 0',
      'm=audio 20000 RTP/SAVP 0',
    ]);
    expect(lines).toContain(`a=crypto:4 ${SHA80} inline:${Buffer.alloc(30, 9).toString('base64')}`);
  });
});

describe('our offer with keys and its answer', () => {
  const OFFER: OfferParts = {
    address: '192.0.2.1',
    port: 20_000,
    sessionId: 5,
    version: 1,
    ptimeMs: 20,
    codecs: [staticCodec('PCMU')!],
    telephoneEventPayloadType: undefined,
    direction: 'sendrecv',
    crypto: [
      { tag: 1, suite: SHA80, key: KEY },
      { tag: 2, suite: 'AEAD_AES_128_GCM', key: KEY.subarray(2) },
    ],
  };
  const settle = (plainToo: boolean, ...answer: string[]): string => {
    const result = readAnswer(buildOffer({ ...OFFER, plainToo }), sdp(...answer));
    if (!result.ok) return result.error.kind;
    return result.value.crypto?.suite ?? 'plain';
  };

  test('offers SRTP only as RTP/SAVP, and SRTP with a plain RTP fallback as RTP/AVP', () => {
    expect(buildOffer(OFFER)).toContain('m=audio 20000 RTP/SAVP 0\r\n');
    expect(buildOffer({ ...OFFER, plainToo: true })).toContain('m=audio 20000 RTP/AVP 0\r\n');
    expect(buildOffer(OFFER).match(/^a=crypto:/gm)).toHaveLength(2);
  });

  test.each<[string, boolean, string[], string]>([
    ['takes the first', false, ['m=audio 5000 RTP/SAVP 0', line(1)], SHA80],
    [
      'a tag with another suite than ours',
      false,
      ['m=audio 5000 RTP/SAVP 0', line(2)],
      'plainMediaRefused',
    ],
    [
      'a tag that we did not offer',
      false,
      ['m=audio 5000 RTP/SAVP 0', line(3)],
      'plainMediaRefused',
    ],
    [
      'plain RTP, where only SRTP was offered',
      false,
      ['m=audio 5000 RTP/AVP 0'],
      'plainMediaRefused',
    ],
    ['plain RTP, after an offer of both', true, ['m=audio 5000 RTP/AVP 0'], 'plain'],
    ['SRTP, after an offer of both', true, ['m=audio 5000 RTP/AVP 0', line(1)], SHA80],
  ])('%s', (_, plainToo, answer, expected) => {
    expect(settle(plainToo, ...answer)).toBe(expected);
  });
});
