import { describe, expect, it } from 'vitest';
import { type CodecName, srtpRule } from '../../../src/domain/call/needs.ts';
import { Negotiation } from '../../../src/domain/call/negotiate.ts';

const ALL: readonly CodecName[] = ['OPUS', 'G722', 'PCMU', 'PCMA'];
const RULE = srtpRule('off', { secured: false });

const negotiation = () =>
  new Negotiation(
    { address: '198.51.100.1', port: 20_000 },
    { sessionId: 1, bytes: (length) => new Uint8Array(length), fingerprint: undefined },
  );

const theirs = (formats: string, ...lines: string[]): string =>
  [
    'v=0',
    'o=- 1 1 IN IP4 192.0.2.1',
    's=-',
    'c=IN IP4 192.0.2.1',
    't=0 0',
    `m=audio 40000 RTP/AVP ${formats}`,
    ...lines,
    '',
  ].join('\r\n');

const answerTo = (offer: string, codecs = ALL) => {
  const answer = negotiation().answer(offer, RULE, { families: ['IP4', 'IP6'], codecs });
  if (!answer.ok) throw new Error(answer.error.detail);
  return answer.value;
};

describe('payload types of a session (RFC 3264 §8.3.2)', () => {
  const OFFER = theirs('0 111 96', 'a=rtpmap:111 opus/48000/2', 'a=rtpmap:96 telephone-event/8000');

  it("keeps the peer's numbers in our later offers", () => {
    const session = negotiation();
    session.answer(OFFER, RULE, { families: ['IP4', 'IP6'], codecs: ALL });
    const again = session.offer(RULE, ALL);
    expect(again).toContain('a=rtpmap:111 opus/48000/2');
    expect(again).toContain('a=rtpmap:96 telephone-event/8000');
    expect(again).not.toMatch(/a=rtpmap:96 opus|a=rtpmap:101 /);
    const answer = theirs(
      '107 96',
      'a=rtpmap:107 opus/48000/2',
      'a=rtpmap:96 telephone-event/8000',
    );
    // Each side receives with the numbers of the description that it sent.
    expect(session.settle(answer)).toMatchObject({
      value: {
        payloadType: { send: 107, receive: 111 },
        telephoneEvent: { send: 96, receive: 96, clockRate: 8000 },
      },
    });
  });

  it("leaves a number to the peer's codec if both use it for different codecs", () => {
    const session = negotiation();
    const offer = theirs('0 96 101', 'a=rtpmap:96 iLBC/8000', 'a=rtpmap:101 G729/8000');
    session.answer(offer, RULE, { families: ['IP4', 'IP6'], codecs: ALL });
    const again = session.offer(RULE, ALL);
    expect(again).toMatch(/a=rtpmap:127 opus\/48000\/2/);
    expect(again).toMatch(/a=rtpmap:126 telephone-event\/8000/);
    expect(session.offer(RULE, ALL)).toBe(again);
  });
});

describe('offer of a peer', () => {
  it("is answered with our codecs in the peer's order and with its payload types", () => {
    const { sdp, remote } = answerTo(
      theirs(
        '111 9 0 110 101',
        'a=rtpmap:111 opus/48000/2',
        'a=fmtp:111 minptime=10; useinbandfec=1; maxaveragebitrate=20000; maxplaybackrate=16000',
        'a=rtpmap:110 telephone-event/48000',
        'a=rtpmap:101 telephone-event/8000',
      ),
    );
    expect(sdp).toContain('m=audio 20000 RTP/AVP 111 110\r\n');
    expect(sdp).toContain('a=rtpmap:111 opus/48000/2\r\n');
    expect(sdp).toContain('a=fmtp:111 useinbandfec=1;maxplaybackrate=48000');
    expect(remote).toMatchObject({
      codec: {
        name: 'OPUS',
        clockRate: 48_000,
        sampleRate: 16_000,
        channels: 1,
        opus: { bitrate: 20_000, fec: true, dtx: false },
      },
      payloadType: { send: 111, receive: 111 },
      telephoneEvent: { send: 110, receive: 110, clockRate: 48_000 },
    });
  });

  it('of Opus with events at 8000 Hz only keeps those events', () => {
    const { sdp, remote } = answerTo(
      theirs('96 97', 'a=rtpmap:96 opus/48000/2', 'a=rtpmap:97 telephone-event/8000'),
    );
    expect(sdp).toContain('a=rtpmap:97 telephone-event/8000');
    expect(remote.telephoneEvent).toEqual({ send: 97, receive: 97, clockRate: 8000 });
    expect(remote.codec).toMatchObject({ sampleRate: 24_000, opus: { bitrate: 0, fec: false } });
  });

  it('of Opus with full-band playback uses 48 kHz, also for decoding and mixing', () => {
    const fmtp = 'a=fmtp:96 maxplaybackrate=48000';
    const { remote } = answerTo(theirs('96', 'a=rtpmap:96 opus/48000/2', fmtp));
    expect(remote.codec).toMatchObject({ name: 'OPUS', sampleRate: 48_000 });
  });

  it.each([
    ['9 0', 'G722', 16_000, 9],
    ['8 9', 'PCMA', 8000, 8],
  ] as const)('%s is answered with %s', (formats, name, sampleRate, payloadType) => {
    const { remote } = answerTo(theirs(formats));
    expect(remote.codec).toMatchObject({ name, clockRate: 8000, sampleRate });
    expect(remote.payloadType).toEqual({ send: payloadType, receive: payloadType });
  });

  it('accepts L16 at both rates if configured, but not in stereo', () => {
    const offer = theirs('11 120 121 0', 'a=rtpmap:120 L16/16000/2', 'a=rtpmap:121 L16/16000');
    expect(answerTo(offer, ['L16', 'PCMU']).remote).toMatchObject({
      codec: { name: 'L16', clockRate: 16_000, sampleRate: 16_000 },
      payloadType: { send: 121, receive: 121 },
    });
    expect(answerTo(offer).remote.codec.name).toBe('PCMU');
  });

  it.each([
    'maxaveragebitrate=1',
    'maxaveragebitrate=x;maxplaybackrate=-;;=;usedtx',
    'maxplaybackrate=1e9;maxaveragebitrate=99999999',
  ])('ignores invalid fmtp parameters: %s', (fmtp) => {
    const { remote } = answerTo(theirs('96', 'a=rtpmap:96 opus/48000/2', `a=fmtp:96 ${fmtp}`));
    expect(remote.codec).toMatchObject({
      sampleRate: 24_000,
      opus: { bitrate: 0, fec: false, dtx: false },
    });
  });
});

describe('our offer', () => {
  it('lists codecs in configured order, with parameters for dynamic ones and events at both clock rates', () => {
    const sdp = negotiation().offer(RULE, ALL);
    expect(sdp).toContain('m=audio 20000 RTP/AVP 96 9 0 8 101 102\r\n');
    expect(sdp).toContain('a=rtpmap:96 opus/48000/2\r\na=fmtp:96 useinbandfec=1;');
    expect(sdp).toContain('a=rtpmap:102 telephone-event/48000\r\n');
    expect(negotiation().offer(RULE, ['PCMU', 'PCMA'])).toContain('RTP/AVP 0 8 101\r\n');
    expect(negotiation().offer(RULE, ['L16'])).toContain('RTP/AVP 97 98 101\r\n');
  });

  it('is settled with different payload types on each side', () => {
    const side = negotiation();
    side.offer(RULE, ALL);
    const settled = side.settle(
      theirs('107 101', 'a=rtpmap:107 opus/48000/2', 'a=rtpmap:101 telephone-event/8000'),
    );
    expect(settled).toMatchObject({
      ok: true,
      value: {
        payloadType: { send: 107, receive: 96 },
        telephoneEvent: { send: 101, receive: 101, clockRate: 8000 },
      },
    });
  });
});

describe('comfort noise (RFC 3389)', () => {
  it.each([
    ['9 0 13', ['G722'], 13],
    ['0 13 101', ['PCMU'], 13],
    ['0 101', ['PCMU'], undefined],
    ['97 13 105', ['L16'], 105],
    // A clock rate other than the codec's is not usable.
    ['96 13', ['OPUS'], undefined],
    ['0 105', ['PCMU'], undefined],
    ['97 13', ['L16'], undefined],
  ] as const)('offered as %s for %j: %s', (formats, codecs, type) => {
    const maps = ['96 opus/48000/2', '97 L16/16000', '105 CN/16000'];
    const offer = theirs(formats, ...maps.map((map) => `a=rtpmap:${map}`));
    const { sdp, remote } = answerTo(offer, codecs);
    const listed = /^m=audio [0-9]+ RTP\/AVP .*\b(13|105)\b/m.exec(sdp)?.[1];
    expect(listed && Number(listed)).toBe(type);
    expect(remote.comfortNoise).toEqual(type && { send: type, receive: type });
  });

  it.each([
    ['named first', ['CN', 'PCMU'], '0 13 101', '0 13', { send: 13, receive: 13 }],
    ['and declined', ['PCMU', 'CN'], '0 13 101', '0', undefined],
    ['not named', ['PCMU'], '0 101', '0', undefined],
  ] as const)('in our offer, %s', (_, codecs, offered, answered, spoken) => {
    const session = negotiation();
    expect(session.offer(RULE, codecs)).toContain(`RTP/AVP ${offered}\r\n`);
    expect(session.settle(theirs(answered))).toMatchObject({
      value: { codec: { name: 'PCMU' }, comfortNoise: spoken },
    });
  });
});
