import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  MAX_MEDIA_LINES,
  MAX_SDP_LENGTH,
  MAX_SDP_LINES,
  parseSdp,
} from '../../../src/protocol/sdp/parse.ts';
import {
  type AudioSession,
  buildAnswer,
  buildOffer,
  type Codec,
  chooseAudio,
  readAnswer,
  readOffer,
  revise,
  staticCodec,
} from '../../../src/protocol/sdp/sdp.ts';
import { serializeSdp } from '../../../src/protocol/sdp/serialize.ts';
import type { Direction } from '../../../src/protocol/sdp/types.ts';

const codec = (name: string): Codec => {
  const found = staticCodec(name);
  if (found === undefined) throw new Error(`no static codec ${name}`);
  return found;
};

const OURS = {
  address: '192.0.2.1',
  port: 20_000,
  sessionId: 5,
  version: 1,
  ptimeMs: 20,
  codecs: [codec('PCMU'), codec('PCMA')],
  telephoneEventPayloadType: 101,
  direction: 'sendrecv' as Direction,
};
const THEIRS = { address: '2001:db8::7', port: 30_000, sessionId: 9, version: 4, ptimeMs: 30 };

function offerOf(text: string) {
  const offer = readOffer(text);
  if (!offer.ok) throw new Error(offer.error.detail);
  return offer.value;
}

function choose(text: string, names: readonly string[], direction?: Direction): AudioSession {
  const choice = chooseAudio(offerOf(text), {
    codecs: names,
    ...(direction === undefined ? {} : { direction }),
  });
  if (!choice.ok) throw new Error(choice.error.detail);
  return choice.value;
}

const answerTo = (offer: string, names: readonly string[], direction?: Direction): string =>
  buildAnswer(offerOf(offer), choose(offer, names, direction), THEIRS);

const audio = (lines: readonly string[]): string =>
  ['v=0', 'o=- 1 1 IN IP4 192.0.2.7', 's=-', 'c=IN IP4 192.0.2.7', 't=0 0', ...lines, ''].join(
    '\r\n',
  );

describe('our offer and its answer (RFC 3264)', () => {
  test('§5: an offer lists our codecs in order, events and direction', () => {
    expect(buildOffer(OURS)).toBe(
      [
        'v=0',
        'o=- 5 1 IN IP4 192.0.2.1',
        's=-',
        'c=IN IP4 192.0.2.1',
        't=0 0',
        'm=audio 20000 RTP/AVP 0 8 101',
        'a=rtpmap:0 PCMU/8000',
        'a=rtpmap:8 PCMA/8000',
        'a=rtpmap:101 telephone-event/8000',
        'a=fmtp:101 0-15',
        'a=ptime:20',
        'a=sendrecv',
        '',
      ].join('\r\n'),
    );
  });

  test('both sides agree on the same session', () => {
    const offer = buildOffer(OURS);
    const answer = answerTo(offer, ['PCMA']);
    const theirs = choose(offer, ['PCMA']);
    const ours = readAnswer(offer, answer);
    expect(theirs).toMatchObject({ address: '192.0.2.1', port: 20_000, telephoneEvent: 101 });
    expect(ours).toEqual({
      ok: true,
      value: {
        address: '2001:db8::7',
        family: 'IP6',
        port: 30_000,
        index: 0,
        codec: codec('PCMA'),
        telephoneEvent: 101,
        telephoneEventClockHz: 8000,
        ptimeMs: 30,
        direction: 'sendrecv',
        crypto: undefined,
        dtls: undefined,
        ice: undefined,
        mid: undefined,
        rtcpMux: false,
        rtcp: undefined,
        comfortNoise: undefined,
        voipMetrics: false,
      },
    });
  });

  test('writes IP6 lines for an IPv6 address', () => {
    const answer = answerTo(buildOffer(OURS), ['PCMU']);
    expect(answer).toContain('o=- 9 4 IN IP6 2001:db8::7\r\n');
    expect(answer).toContain('c=IN IP6 2001:db8::7\r\n');
  });

  const refusals: readonly [string, readonly string[], string][] = [
    ['§6: port 0 declines our audio', ['m=audio 0 RTP/AVP 0'], 'declined'],
    ['an answer without our m-line', [], 'answerMismatch'],
    ['an answer of another kind', ['m=video 5000 RTP/AVP 31'], 'answerMismatch'],
    ['a codec that we did not offer', ['m=audio 5000 RTP/AVP 18'], 'noCommonCodec'],
    ['SRTP where we offered RTP', ['m=audio 5000 RTP/SAVP 0'], 'secureMediaRequired'],
  ];
  test.each(refusals)('%s', (_title, lines, kind) => {
    const result = readAnswer(buildOffer(OURS), audio(lines));
    expect(result.ok ? 'accepted' : result.error.kind).toBe(kind);
  });

  test('distinguishes our offers that differ in audio parameters', () => {
    const direct = audio(['m=audio 5000 RTP/AVP 0']);
    const second = audio(['m=video 4000 RTP/AVP 31', 'm=audio 5000 RTP/AVP 0']);
    const held = direct.replace('m=audio', 'a=sendonly\r\nm=audio');
    const read = (offer: string, answer: string) => {
      const result = readAnswer(offer, answer);
      return result.ok ? result.value.direction : result.error.kind;
    };
    expect(read(direct, direct)).toBe('sendrecv');
    expect(read(direct.replace('5000', '6000'), direct)).toBe('sendrecv');
    expect(read(second, second)).toBe('sendrecv');
    expect(read(second, direct)).toBe('answerMismatch');
    expect(read(held, direct)).toBe('sendonly');
    expect(read(audio(['m=audio 5000 RTP/AVP 8']), direct)).toBe('noCommonCodec');
  });

  test('uses the payload type of the answer if it differs from our offer', () => {
    const answer = audio([
      'm=audio 5000 RTP/AVP 96 97',
      'a=rtpmap:96 PCMA/8000',
      'a=rtpmap:97 telephone-event/8000',
    ]);
    const result = readAnswer(buildOffer(OURS), answer);
    expect(result.ok && [result.value.codec.payloadType, result.value.telephoneEvent]).toEqual([
      96, 97,
    ]);
  });
});

describe('direction (RFC 3264 §6.1)', () => {
  const offers: readonly [Direction, Direction, Direction][] = [
    ['sendrecv', 'sendrecv', 'sendrecv'],
    ['sendonly', 'sendrecv', 'recvonly'],
    ['recvonly', 'sendrecv', 'sendonly'],
    ['inactive', 'sendrecv', 'inactive'],
    ['sendrecv', 'sendonly', 'sendonly'],
    ['sendrecv', 'recvonly', 'recvonly'],
    ['sendonly', 'sendonly', 'inactive'],
    ['recvonly', 'recvonly', 'inactive'],
    ['sendrecv', 'inactive', 'inactive'],
  ];
  test.each(offers)('offered %s, wanted %s: we use %s', (offered, wanted, expected) => {
    const text = audio(['m=audio 5000 RTP/AVP 0', `a=${offered}`]);
    expect(choose(text, ['PCMU'], wanted).direction).toBe(expected);
  });

  test('continues sending after our hold is answered with recvonly', () => {
    const offer = buildOffer({ ...OURS, direction: 'sendonly' });
    const result = readAnswer(offer, answerTo(offer, ['PCMU']));
    expect(result.ok && result.value.direction).toBe('sendonly');
  });
});

describe('VoIP metrics (RFC 3611 §5)', () => {
  const line = 'm=audio 4000 RTP/AVP 0';
  test.each([
    [[line, 'a=rtcp-xr:rcvr-rtt=all voip-metrics'], true],
    [['a=rtcp-xr:voip-metrics', line], true],
    [[line, 'a=rtcp-xr:stat-summary=loss,dup'], false],
    [[line], false],
  ])('%j: %s', (lines, wanted) => {
    expect(choose(audio(lines), ['PCMU']).voipMetrics).toBe(wanted);
    const answer = answerTo(audio(lines), ['PCMU']);
    expect(answer.includes('a=rtcp-xr:voip-metrics\r\n')).toBe(wanted);
  });
});

describe('packet length', () => {
  test.each([
    [[], 20],
    [['a=ptime:30'], 30],
    [['a=ptime:20.0'], 20],
    [['a=ptime:25'], 20],
    [['a=ptime:5'], 10],
    [['a=ptime:200'], 60],
    [['a=maxptime:10'], 10],
    [['a=ptime:40', 'a=maxptime:30'], 30],
    [['a=ptime:x'], 20],
  ])('%j gives %d ms', (lines, expected) => {
    expect(choose(audio(['m=audio 5000 RTP/AVP 0', ...lines]), ['PCMU']).ptimeMs).toBe(expected);
  });
});

describe('the version in o= (RFC 3264 §8)', () => {
  test('keeps the version of an unchanged description and increments it with a change', () => {
    const build = (direction: Direction) => (version: number) =>
      buildOffer({ ...OURS, version, direction });
    const first = revise(undefined, build('sendrecv'), 7);
    expect(first.version).toBe(7);
    expect(revise(first, build('sendrecv'), 7)).toBe(first);
    const held = revise(first, build('sendonly'), 7);
    expect(held.version).toBe(8);
    expect(held.sdp).toContain('o=- 5 8 IN IP4');
    expect(held.sdp).toContain('a=sendonly');
  });
});

describe('limits and invalid input', () => {
  const problem = (text: string) => {
    const result = parseSdp(text);
    return result.ok ? undefined : result.error.detail;
  };

  test('limits length, lines and m-lines', () => {
    const padded = audio(['m=audio 5000 RTP/AVP 0', `a=x:${'y'.repeat(MAX_SDP_LENGTH)}`]);
    expect(problem(padded)).toMatch(/longer/);
    expect(problem(audio(Array<string>(MAX_SDP_LINES).fill('a=x')))).toMatch(/more lines/);
    const lines = Array<string>(MAX_MEDIA_LINES + 1).fill('m=audio 5000 RTP/AVP 0');
    expect(problem(audio(lines))).toMatch(/more m= lines/);
    expect(problem(audio(lines.slice(1)))).toBeUndefined();
  });

  test('never throws for arbitrary text', () => {
    const line = fc.oneof(
      fc.string(),
      fc
        .tuple(fc.constantFrom('v', 'o', 's', 'c', 't', 'm', 'a', 'b'), fc.string())
        .map(([type, rest]) => `${type}=${rest}`),
      fc.constantFrom(
        'v=0',
        'c=IN IP4 192.0.2.7',
        'm=audio 5000 RTP/AVP 0 101',
        'a=rtpmap:101 telephone-event/8000',
      ),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
        const offer = readOffer(lines.join('\r\n'));
        if (offer.ok) chooseAudio(offer.value, { codecs: ['PCMU'] });
      }),
    );
  });

  test('parse ∘ serialize is the identity on supported descriptions', () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/);
    const text = fc.stringMatching(/^[a-zA-Z0-9 /:.-]{0,20}$/).map((value) => value.trim());
    const attribute = fc.record({ name, value: fc.option(text, { nil: undefined }) });
    const connection = fc.option(fc.constant({ family: 'IP4' as const, address: '192.0.2.7' }), {
      nil: undefined,
    });
    const medium = fc.record({
      media: fc.constantFrom('audio', 'video'),
      port: fc.nat(65_535),
      protocol: fc.constantFrom('RTP/AVP', 'udptl'),
      formats: fc.array(fc.nat(127).map(String), { minLength: 1, maxLength: 5 }),
      connection,
      bandwidth: fc.array(fc.constant('AS:64'), { maxLength: 1 }),
      attributes: fc.array(attribute, { maxLength: 4 }),
    });
    const session = fc.record({
      origin: fc.record({
        username: fc.constant('-'),
        sessionId: fc.nat().map(String),
        sessionVersion: fc.nat().map(String),
        family: fc.constant('IP4' as const),
        address: fc.constant('192.0.2.7'),
      }),
      sessionName: fc.constant('call'),
      connection,
      bandwidth: fc.constant([]),
      times: fc.constant(['0 0']),
      attributes: fc.array(attribute, { maxLength: 3 }),
      media: fc.array(medium, { maxLength: 3 }),
    });
    fc.assert(
      fc.property(session, (description) => {
        expect(parseSdp(serializeSdp(description))).toEqual({ ok: true, value: description });
      }),
    );
  });
});
