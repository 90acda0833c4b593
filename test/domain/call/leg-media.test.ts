/** Handling of addresses and keys in a peer's SDP. */

import { describe, expect, it } from 'vitest';
import type { RtpVerdict } from '../../../src/base/egress.ts';
import { asAccountId, asCallUuid } from '../../../src/base/ids.ts';
import { CallLogs } from '../../../src/domain/call/call.ts';
import { LegMedia, type LegMediaNeeds, type RtpPeer } from '../../../src/domain/call/leg-media.ts';
import type { Media, MediaSession } from '../../../src/domain/call/needs.ts';

const CLOCK = { monotonicMs: () => 0, wallMs: () => 0 };

const sdpOf = (address: string): string =>
  `v=0\r\no=- 1 1 IN IP4 ${address}\r\ns=-\r\nc=IN IP4 ${address}\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\n`;

async function legWith(
  verdict: RtpVerdict = { kind: 'send' },
  rtpSources?: { readonly acceptOthers: boolean; isEdge(address: string): boolean },
  more: Pick<LegMediaNeeds, 'resolveHost'> & Pick<Media, 'families'> = {},
) {
  let keys = 0;
  const configured: MediaSession[] = [];
  const requested: RtpPeer[] = [];
  const leg = {
    address: '127.0.0.1',
    address6: '::1',
    port: 20_000,
    configure: (remote: MediaSession) => void configured.push(remote),
  };
  const log = new CallLogs({ entries: 10, retentionMs: 1000, calls: 10 }, CLOCK).open(
    asCallUuid('c'),
    asAccountId('MA_X'),
  );
  const media = new LegMedia(
    {
      media: { openLeg: async () => leg, families: more.families } as unknown as Media,
      resolveHost: more.resolveHost,
      sessionId: () => 1,
      bytes: (length) => {
        keys += 1;
        return new Uint8Array(length).fill(keys);
      },
      srtp: { policy: 'optional', offered: false },
      codecs: { phones: ['PCMU', 'PCMA'], carriers: ['PCMU', 'PCMA'] },
      mediaTimeoutMs: 1000,
      log,
      rtpSources,
      judgeRtp: (peer) => {
        requested.push(peer);
        return verdict;
      },
    },
    { dtmf: () => undefined, silent: () => undefined },
    () => ({ heardFrom: '198.51.100.7', carrier: undefined }),
  );
  await media.open();
  return { media, configured, requested, log };
}

describe('SDP with several media lines', () => {
  const head = 'v=0\r\no=- 1 1 IN IP4 198.51.100.7\r\ns=-\r\nc=IN IP4 198.51.100.7\r\nt=0 0\r\n';

  it('accepts the first usable audio line and declines the others in place', async () => {
    const { media, configured } = await legWith();
    const lines = [
      'm=video 5000 RTP/AVP 96',
      'm=audio 4002 RTP/AVP 18\r\na=rtpmap:18 G729/8000',
      'm=audio 4004 RTP/AVP 0\r\nc=IN IP6 2001:db8::1',
      'm=audio 4006 RTP/AVP 8',
      'm=audio 4008 RTP/AVP 0',
    ];
    const answer = media.describe(`${head}${lines.join('\r\n')}\r\n`);
    expect(answer.ok && answer.value.match(/^m=\w+ \d+/gm)).toEqual([
      ...['m=video 0', 'm=audio 0', 'm=audio 0', 'm=audio 20000', 'm=audio 0'],
    ]);
    expect(configured).toMatchObject([{ port: 4006, codec: { name: 'PCMA' } }]);
  });

  it('refuses an IPv6-only offer if media has no IPv6, before the call rings', async () => {
    const { media } = await legWith();
    const ipv6 = sdpOf('2001:db8::1').replaceAll('IP4', 'IP6');
    expect(media.problemOf(ipv6)).toMatchObject({ kind: 'unsupportedAddress' });
    expect(media.describe(ipv6).ok).toBe(false);
    media.offers();
    expect(media.settle(ipv6).ok).toBe(false);
  });

  it('refuses a re-INVITE for T.38 and keeps the audio session', async () => {
    const { media, configured } = await legWith();
    expect(media.describe(sdpOf('198.51.100.7')).ok).toBe(true);
    const fax = `${head}m=audio 0 RTP/AVP 0\r\nm=image 5002 udptl t38\r\na=T38FaxVersion:0\r\n`;
    expect(media.describe(fax)).toMatchObject({ ok: false, error: { kind: 'noAudio' } });
    expect(configured).toHaveLength(1);
    expect(media.describe(sdpOf('198.51.100.7')).ok).toBe(true);
  });
});

describe('media address of a peer', () => {
  it('is judged together with the signalling address, and used if allowed', async () => {
    const { media, configured, requested } = await legWith({ kind: 'send' });
    expect(media.describe(sdpOf('198.51.100.7')).ok).toBe(true);
    expect(configured).toMatchObject([{ address: '198.51.100.7', port: 4000 }]);
    expect(requested).toEqual([
      {
        address: '198.51.100.7',
        port: 4000,
        rtcpPort: 4001,
        heardFrom: '198.51.100.7',
        carrier: undefined,
      },
    ]);
  });

  it('is judged together with the RTCP port, which may have to be learned', async () => {
    const { media, configured, requested } = await legWith({ kind: 'send', rtcp: 'learn' });
    expect(media.describe(`${sdpOf('198.51.100.7')}a=rtcp-mux\r\n`).ok).toBe(true);
    expect(requested).toMatchObject([{ port: 4000, rtcpPort: 4000 }]);
    expect(configured).toMatchObject([{ address: '198.51.100.7', rtcpLearned: true }]);
  });

  it.each([
    ['a=rtcp:5003', 5003],
    ['a=rtcp:5003 IN IP4 198.51.100.7', 5003],
    ['a=rtcp:0', 4001],
    ['a=rtcp:65536', 4001],
    ['a=rtcp:9 IN IP4 0.0.0.0', 4001],
  ])('has the RTCP port of the SDP (RFC 3605): %s', async (line, rtcpPort) => {
    const { media, configured, requested } = await legWith({ kind: 'send' });
    expect(media.describe(`${sdpOf('198.51.100.7')}${line}\r\n`).ok).toBe(true);
    expect(requested).toMatchObject([{ port: 4000, rtcpPort }]);
    expect(configured[0]?.rtcpPort ?? 4001).toBe(rtcpPort);
    expect(configured).toMatchObject([{ rtcpLearned: false }]);
  });

  it('learns the RTCP port if the SDP has another address for RTCP', async () => {
    const { media, configured } = await legWith({ kind: 'send' });
    const line = 'a=rtcp:5003 IN IP4 198.51.100.8';
    expect(media.describe(`${sdpOf('198.51.100.7')}${line}\r\n`).ok).toBe(true);
    expect(configured).toMatchObject([{ rtcpPort: undefined, rtcpLearned: true }]);
  });

  it('is learned from RTP if it may not be used, for offers, answers and re-INVITEs', async () => {
    const verdict = { kind: 'learn', why: '10.0.0.9 is a private address' } as const;
    const { media, configured, log } = await legWith(verdict);
    expect(media.describe(sdpOf('10.0.0.9')).ok).toBe(true);
    media.offers();
    expect(media.settle(sdpOf('10.0.0.9')).ok).toBe(true);
    expect(configured.map(({ address }) => address)).toEqual(['', '']);
    expect(log.entries().at(-1)).toMatchObject({ facts: { because: verdict.why } });
  });

  it('is refused without changing the session if it belongs to the service', async () => {
    const { media, configured } = await legWith({ kind: 'refuse', why: 'an address of ours' });
    expect(media.describe(sdpOf('127.0.0.1'))).toMatchObject({
      ok: false,
      error: { detail: 'an address of ours' },
    });
    expect(configured).toEqual([]);
  });

  it('is learned while DNS resolves a host name, and then used', async () => {
    const found = Promise.withResolvers<readonly string[]>();
    const { media, configured } = await legWith({ kind: 'send' }, undefined, {
      resolveHost: (name) => (name === 'media.example.com' ? found.promise : Promise.reject()),
    });
    expect(media.describe(sdpOf('media.example.com')).ok).toBe(true);
    expect(configured).toMatchObject([{ address: '' }]);
    found.resolve(['2001:db8::1', '198.51.100.9']);
    await found.promise;
    await Promise.resolve();
    expect(configured).toMatchObject([{}, { address: '198.51.100.9', port: 4000 }]);
  });

  it.each([
    ['IP4', '198.51.100.9', 'c=IN IP4 127.0.0.1'],
    ['IP6', '2001:db8::1', 'c=IN IP6 ::1'],
  ])('has the family of its c= line if it is a host name: %s', async (family, used, ours) => {
    const { media, configured } = await legWith({ kind: 'send' }, undefined, {
      families: ['IP4', 'IP6'],
      resolveHost: async () => ['198.51.100.9', '2001:db8::1'].toSorted(() => -1),
    });
    const named = sdpOf('media.example.com').replaceAll('IP4', family);
    const described = media.describe(named);
    expect(described.ok && described.value).toContain(ours);
    await new Promise(setImmediate);
    expect(configured).toMatchObject([{ address: '' }, { address: used }]);
  });

  it('may be IPv4-mapped IPv6, which is IPv4', async () => {
    const { media, configured } = await legWith({ kind: 'send' }, undefined, {
      families: ['IP4', 'IP6'],
    });
    const described = media.describe(sdpOf('::ffff:198.51.100.7').replaceAll('IP4', 'IP6'));
    expect(described.ok && described.value).toContain('c=IN IP4 127.0.0.1');
    expect(configured).toMatchObject([{ address: '198.51.100.7' }]);
  });

  it.each(['::', '0:0:0:0:0:0:0:0', '::0'])('that is unspecified holds: %s', async (address) => {
    const { media, configured } = await legWith();
    expect(media.describe(sdpOf(address)).ok).toBe(true);
    expect(configured).toMatchObject([{ address: '' }]);
    expect(media.hold).toBe('inactive');
  });

  it.each([
    ['is unknown', () => Promise.reject(new Error('ENOTFOUND'))],
    ['has no usable address', () => Promise.resolve(['2001:db8::1'])],
  ])('stays learned if the host name %s', async (_, resolveHost) => {
    const { media, configured, log } = await legWith({ kind: 'send' }, undefined, { resolveHost });
    expect(media.describe(sdpOf('media.example.com')).ok).toBe(true);
    await new Promise(setImmediate);
    expect(configured).toMatchObject([{ address: '' }]);
    expect(log.entries().at(-1)).toMatchObject({ text: 'host name in SDP not used' });
  });

  it('is that of a later description if DNS answers afterwards', async () => {
    const found = Promise.withResolvers<readonly string[]>();
    const { media, configured } = await legWith({ kind: 'send' }, undefined, {
      resolveHost: () => found.promise,
    });
    media.describe(sdpOf('media.example.com'));
    media.describe(sdpOf('198.51.100.7'));
    found.resolve(['198.51.100.9']);
    await new Promise(setImmediate);
    expect(configured.map(({ address }) => address)).toEqual(['', '198.51.100.7']);
  });

  it.each([
    'media_1.example',
    '-a.example',
    '1.2.3',
    'a..b',
    '999.1.1.1',
    `${'a'.repeat(64)}.b`,
    'fe80::7%eth0',
    '[::1]',
  ])('is refused if it is neither an address nor a host name: %s', async (address) => {
    const { media } = await legWith();
    expect(media.describe(sdpOf(address)).ok).toBe(false);
  });

  it('decides the address family of our description', async () => {
    const { media } = await legWith({ kind: 'send' }, undefined, { families: ['IP4', 'IP6'] });
    const { sdp, sdp6 } = media.offers();
    expect(sdp).toContain('c=IN IP4 127.0.0.1');
    expect(sdp6).toContain('c=IN IP6 ::1');
    const four = media.describe(sdpOf('198.51.100.7'));
    expect(four.ok && four.value).toContain('c=IN IP4 127.0.0.1');
    const six = media.describe(sdpOf('2001:db8::1').replaceAll('IP4', 'IP6'));
    expect(six.ok && six.value).toContain('c=IN IP6 ::1');
    // The signalling of the peer decides the family of an offer that it requests.
    const offered = media.describe(undefined);
    expect(offered.ok && offered.value).toContain('c=IN IP4 127.0.0.1');
  });

  it('of a link-local phone has the interface of its signalling', async () => {
    const { media, configured, requested } = await legWith({ kind: 'send' }, undefined, {
      families: ['IP4', 'IP6'],
    });
    media.movedTo('fe80::7%eth0');
    const offer = (address: string) => sdpOf(address).replaceAll('IP4', 'IP6');
    for (const address of ['fe80::7', 'FEBF::8', '2001:db8::7'])
      expect(media.describe(offer(address)).ok).toBe(true);
    const addresses = ['fe80::7%eth0', 'febf::8%eth0', '2001:db8::7'];
    expect(configured.map(({ address }) => address)).toEqual(addresses);
    expect(requested.map(({ address }) => address)).toEqual(addresses);
  });

  it('keeps the version of a description that the peer knows', async () => {
    const { media } = await legWith({ kind: 'send' }, undefined, { families: ['IP4', 'IP6'] });
    const versionOf = (sdp = '') => /^o=\S+ \S+ (\d+) IN (IP\d) /m.exec(sdp)?.slice(1);
    const { sdp, sdp6 } = media.offers();
    expect([versionOf(sdp), versionOf(sdp6)]).toEqual([
      ['1', 'IP4'],
      ['1', 'IP6'],
    ]);
    expect(media.offers()).toEqual({ sdp, sdp6 });
    media.offeredTo('IP4');
    media.offeredTo('IP6');
    media.settle(sdpOf('2001:db8::1').replaceAll('IP4', 'IP6'));
    const held = sdpOf('2001:db8::1').replaceAll('IP4', 'IP6').concat('a=sendonly\r\n');
    const answered = media.describe(held);
    expect(versionOf(answered.ok ? answered.value : '')).toEqual(['2', 'IP6']);
    media.offeredTo('IP4');
    const again = media.describe(held);
    expect(again).toEqual(answered);
  });

  it('is not judged if it is 0.0.0.0 (hold)', async () => {
    const { media, configured, requested } = await legWith({ kind: 'send' });
    expect(media.describe(sdpOf('0.0.0.0')).ok).toBe(true);
    expect(configured).toMatchObject([{ address: '' }]);
    expect(requested).toEqual([]);
  });
});

describe('accepted RTP sources', () => {
  it('are the SDP address and the signalling address', async () => {
    const { media, configured } = await legWith();
    media.describe(sdpOf('198.51.100.9'));
    expect(configured).toMatchObject([
      {
        address: '198.51.100.9',
        signallingAddress: '198.51.100.7',
        describedAddress: undefined,
        acceptOtherSources: false,
      },
    ]);
  });

  it('include an SDP address to which sending is not allowed', async () => {
    const { media, configured } = await legWith({ kind: 'learn', why: 'private' });
    media.describe(sdpOf('10.0.0.9'));
    media.describe(sdpOf('0.0.0.0'));
    expect(configured).toMatchObject([
      { address: '', describedAddress: '10.0.0.9' },
      { address: '', describedAddress: undefined },
    ]);
  });

  it('follow the signalling address when a re-INVITE comes from another address', async () => {
    const { media, configured, requested } = await legWith();
    media.describe(sdpOf('198.51.100.9'));
    media.movedTo('203.0.113.5');
    media.describe(sdpOf('203.0.113.5'));
    expect(configured.at(-1)).toMatchObject({ signallingAddress: '203.0.113.5' });
    expect(requested.at(-1)).toMatchObject({ heardFrom: '203.0.113.5' });
  });

  it('exclude the address of an edge proxy', async () => {
    const isEdge = (address: string): boolean => address === '198.51.100.7';
    const { media, configured } = await legWith(undefined, { acceptOthers: true, isEdge });
    media.describe(sdpOf('198.51.100.9'));
    media.movedTo('203.0.113.5');
    media.describe(sdpOf('198.51.100.9'));
    expect(configured).toMatchObject([
      { signallingAddress: undefined, acceptOtherSources: true },
      { signallingAddress: '203.0.113.5', acceptOtherSources: true },
    ]);
  });
});

describe('SRTP keys', () => {
  const SUITE = 'AES_CM_128_HMAC_SHA1_80';
  const key = (fill: number): string => Buffer.alloc(30, fill).toString('base64');
  const secure = (fill: number, profile = 'RTP/SAVP'): string =>
    `${sdpOf('198.51.100.7').replace('RTP/AVP', profile)}a=crypto:1 ${SUITE} inline:${key(fill)}\r\n`;
  const ours = (sdp: string): string | undefined => /inline:(\S+)/.exec(sdp)?.[1];
  const protection = (send: number, receive: number) => ({
    suite: SUITE,
    send: new Uint8Array(30).fill(send),
    receive: Buffer.alloc(30, receive),
    receiveMkiBytes: 0,
  });

  it('keep our key across re-INVITEs, even if the peer changes its key', async () => {
    const { media, configured } = await legWith();
    const answers = [secure(100), secure(100), secure(101)].map((offer) => {
      const described = media.describe(offer);
      return described.ok ? ours(described.value) : described.error.kind;
    });
    expect(answers).toEqual([key(1), key(1), key(1)]);
    expect(configured.map((session) => session.protection)).toEqual([
      protection(1, 100),
      protection(1, 100),
      protection(1, 101),
    ]);
  });

  it('change our key after a period of plain RTP', async () => {
    const { media, configured } = await legWith();
    for (const offer of [secure(100), sdpOf('198.51.100.7'), secure(100)]) media.describe(offer);
    expect(configured.map((session) => session.protection)).toEqual([
      protection(1, 100),
      'none',
      protection(2, 100),
    ]);
  });

  it('policy required: offers RTP/SAVP, and refuses plain answers and offers', async () => {
    const { media, configured } = await legWith();
    media.protectBy({ policy: 'required', offered: true });
    expect(media.offers().sdp).toContain('m=audio 20000 RTP/SAVP ');
    expect(media.settle(sdpOf('198.51.100.7'))).toMatchObject({ ok: false });
    expect(media.describe(sdpOf('198.51.100.7'))).toMatchObject({
      ok: false,
      error: { kind: 'plainMediaRefused' },
    });
    expect(media.problemOf(sdpOf('198.51.100.7'))?.kind).toBe('plainMediaRefused');
    expect(configured).toEqual([]);
    expect(media.settle(secure(100)).ok).toBe(true);
    expect(configured.map((session) => session.protection)).toEqual([protection(1, 100)]);
  });

  it('policy optional: offers keys in RTP/AVP over encrypted signalling, and accepts plain RTP', async () => {
    const { media, configured } = await legWith();
    media.protectBy({ policy: 'optional', offered: true });
    const offer = media.offers().sdp;
    expect(offer).toContain('m=audio 20000 RTP/AVP ');
    expect(ours(offer)).toBe(key(1));
    expect(media.settle(secure(100, 'RTP/AVP')).ok).toBe(true);
    expect(media.settle(sdpOf('198.51.100.7')).ok).toBe(true);
    expect(configured.map((session) => session.protection)).toEqual([protection(1, 100), 'none']);
  });

  it('policy off: refuses SRTP', async () => {
    const { media } = await legWith();
    media.protectBy({ policy: 'off', offered: false });
    expect(media.offers().sdp).not.toContain('a=crypto');
    expect(media.problemOf(secure(100))?.kind).toBe('secureMediaRequired');
  });

  it('do not appear in the call log', async () => {
    const { media, log } = await legWith();
    media.describe(secure(100));
    expect(JSON.stringify(log.entries())).toContain(SUITE);
    expect(JSON.stringify(log.entries())).not.toContain(key(1));
    expect(JSON.stringify(log.entries())).not.toContain(key(100));
  });
});
