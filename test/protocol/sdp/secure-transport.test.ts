import { describe, expect, test } from 'vitest';
import {
  buildAnswer,
  buildOffer,
  chooseAudio,
  readAnswer,
  readOffer,
  staticCodec,
} from '../../../src/protocol/sdp/sdp.ts';
import { readFingerprint } from '../../../src/protocol/sdp/secure-transport.ts';

const HEX = Array.from({ length: 32 }, (_, i) => (i + 16).toString(16).toUpperCase()).join(':');
const PRINT = `sha-256 ${HEX}`;
/** Offer of Chromium, shortened. */
const BROWSER = [
  'v=0',
  'o=- 46117 2 IN IP4 127.0.0.1',
  's=-',
  't=0 0',
  'a=group:BUNDLE 0',
  'a=extmap-allow-mixed',
  'a=msid-semantic: WMS',
  'm=audio 9 UDP/TLS/RTP/SAVPF 111 63 0 8 110 126',
  'c=IN IP4 0.0.0.0',
  'a=rtcp:9 IN IP4 0.0.0.0',
  'a=candidate:1 1 udp 2122260223 192.0.2.8 50000 typ host generation 0',
  'a=ice-ufrag:bYd4',
  'a=ice-pwd:abcdefghijklmnopqrstuvwx',
  'a=ice-options:trickle',
  `a=fingerprint:${PRINT}`,
  'a=setup:actpass',
  'a=mid:0',
  'a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level',
  'a=sendrecv',
  'a=rtcp-mux',
  'a=rtpmap:111 opus/48000/2',
  'a=rtpmap:63 red/48000/2',
  'a=rtpmap:0 PCMU/8000',
  'a=rtpmap:8 PCMA/8000',
  'a=rtpmap:110 telephone-event/48000',
  'a=rtpmap:126 telephone-event/8000',
  '',
].join('\r\n');
const OURS = { ice: { ufrag: 'ours', password: 'p'.repeat(22) }, fingerprint: PRINT };
const LOCAL = { address: '198.51.100.1', port: 20_000, sessionId: 5, version: 1, ptimeMs: 20 };

function answerTo(sdp: string, dtls = true) {
  const offer = readOffer(sdp);
  if (!offer.ok) return offer.error.kind;
  const choice = chooseAudio(offer.value, { codecs: ['PCMU'], dtls });
  if (!choice.ok) return choice.error.kind;
  return { choice: choice.value, sdp: buildAnswer(offer.value, choice.value, LOCAL, OURS) };
}

describe('the offer of a browser', () => {
  test('gets an answer with our candidate, our fingerprint and setup:passive', () => {
    const answer = answerTo(BROWSER);
    if (typeof answer === 'string') throw new Error(answer);
    expect(answer.choice).toMatchObject({
      direction: 'sendrecv',
      telephoneEvent: 126,
      dtls: { role: 'server', fingerprint: { hash: 'sha-256' } },
      ice: { ufrag: 'bYd4' },
      rtcpMux: true,
    });
    expect(answer.sdp.split('\r\n').slice(3)).toEqual([
      'c=IN IP4 198.51.100.1',
      't=0 0',
      'a=ice-lite',
      'a=group:BUNDLE 0',
      'm=audio 20000 UDP/TLS/RTP/SAVPF 0 126',
      'a=rtpmap:0 PCMU/8000',
      'a=rtpmap:126 telephone-event/8000',
      'a=fmtp:126 0-15',
      'a=mid:0',
      'a=rtcp-mux',
      `a=fingerprint:${PRINT}`,
      'a=setup:passive',
      'a=ice-ufrag:ours',
      `a=ice-pwd:${'p'.repeat(22)}`,
      'a=candidate:1 1 udp 2130706431 198.51.100.1 20000 typ host',
      'a=end-of-candidates',
      'a=ptime:20',
      'a=sendrecv',
      '',
    ]);
  });

  test('gets candidates of both address families', () => {
    const offer = readOffer(BROWSER);
    const choice = offer.ok ? chooseAudio(offer.value, { codecs: ['PCMU'], dtls: true }) : offer;
    if (!offer.ok || !choice.ok) throw new Error('refused');
    const local = { ...LOCAL, otherAddress: '2001:db8::1' };
    const answer = buildAnswer(offer.value, choice.value, local, OURS);
    expect(answer.match(/^a=candidate:.*$/gm)).toEqual([
      'a=candidate:1 1 udp 2130706431 198.51.100.1 20000 typ host',
      'a=candidate:3 1 udp 2130706175 2001:db8::1 20000 typ host',
    ]);
  });

  test.each([
    ['a passive peer makes us the client', 'a=setup:passive', 'client'],
    ['an active peer makes us the server', 'a=setup:active', 'server'],
  ])('%s', (_, setup, role) => {
    const answer = answerTo(BROWSER.replace('a=setup:actpass', setup));
    expect(answer).toMatchObject({ choice: { dtls: { role } } });
  });

  test.each([
    ['without a digest', BROWSER.replace(/a=fingerprint:.*\r\n/, ''), true],
    ['with a digest of SHA-1', BROWSER.replace('sha-256', 'sha-1'), true],
    ['to us without a certificate', BROWSER, false],
  ])('%s has no keys: 488', (_, sdp, dtls) => {
    expect(answerTo(sdp, dtls)).toBe('secureMediaRequired');
  });

  test('declines another medium and keeps its mid', () => {
    const video = 'm=video 9 UDP/TLS/RTP/SAVPF 96\r\nc=IN IP4 0.0.0.0\r\na=mid:1\r\n';
    const answer = answerTo(`${BROWSER.replace('BUNDLE 0', 'BUNDLE 0 1')}${video}`);
    expect(answer).toMatchObject({
      sdp: expect.stringMatching(/BUNDLE 0\r\n.*m=video 0 UDP\/TLS\/RTP\/SAVPF 96\r\na=mid:1/s),
    });
  });
});

test('our offer to a browser and its answer', () => {
  const offer = buildOffer({
    ...LOCAL,
    codecs: [staticCodec('PCMU')!],
    telephoneEventPayloadType: 101,
    direction: 'sendrecv',
    transport: {
      ice: OURS.ice,
      dtls: { fingerprint: PRINT, setup: 'actpass' },
      rtcpMux: true,
      mid: '0',
    },
  });
  expect(offer).toContain('m=audio 20000 UDP/TLS/RTP/SAVPF 0 101\r\n');
  const answer = BROWSER.replace('111 63 0 8 110 126', '0 126').replace('actpass', 'active');
  expect(readAnswer(offer, answer)).toMatchObject({
    ok: true,
    value: { dtls: { role: 'server' }, ice: { ufrag: 'bYd4' }, rtcpMux: true },
  });
  const plain = answer.replace('UDP/TLS/RTP/SAVPF', 'RTP/AVP').replace(/a=fingerprint.*\r\n/, '');
  expect(readAnswer(offer, plain)).toMatchObject({ ok: false });
});

test.each([
  ['sha-256 AB', false],
  [`sha-256 ${HEX}`, true],
  [`SHA-256 ${HEX.toLowerCase()}`, true],
  [`sha-384 ${HEX}`, false],
  [`md5 ${HEX}`, false],
  ['', false],
])('digest %s', (text, good) => {
  expect(readFingerprint(text) !== undefined).toBe(good);
});
