import { afterAll, describe, expect, it } from 'vitest';
import type { MediaSession } from '../../../src/domain/call/needs.ts';
import { loadNative, type NativeEngine } from '../../../src/edge/media/native.ts';
import { sessionValues } from '../../../src/edge/media/native-values.ts';
import { openNativeSockets } from '../../../src/edge/stream/native.ts';
import { REMOTE } from './peer.ts';

/** The native side without type checks. */
type Untyped = Record<string, (...values: unknown[]) => unknown>;

const native = loadNative();
const typed: NativeEngine = new native.Engine(true, '127.0.0.1', () => undefined, 1, true);
const engine = typed as unknown as Untyped;
const sockets = openNativeSockets(() => undefined, 1);
afterAll(() => {
  typed.stop();
  sockets.stop();
});

const LEG = {
  port: 20_000,
  ssrc: 1,
  sequence: 2,
  timestamp: 3,
  mediaTimeoutMs: 0,
  keepAliveMs: 20,
};
const leg = (changes: object) => Object.values({ ...LEG, ...changes });
const session = (changes: object) => [1, ...sessionValues({ ...REMOTE, ...changes })];
const PLAY = { place: 1, player: 1, times: 1, manner: 'instead' };
const TONE = {
  steps: [{ frequenciesHz: [440], onMs: 100, offMs: 0 }],
  loop: false,
  levelDbm0: -15,
};
const STREAM = {
  leg: 1,
  stream: 1,
  streamId: 'x',
  encoding: 'audio/x-l16',
  rate: 8000,
  tracks: 'both',
  bidirectional: true,
  extraHeadersJson: '"{}"',
  queueMs: 1000,
  epochMs: 0,
};
const SPEECH = { sensitivity: 50, minimumMs: 40, endMs: 500, bargeIn: 'clear' };
const speech = (changes: object) => [{ ...STREAM, speech: { ...SPEECH, ...changes } }];
const RECORD = {
  place: 1,
  recording: 1,
  path: '/nowhere/x.wav',
  side: 'both',
  stereo: true,
  rate: 8000,
  silenceEndMs: 0,
  maxMs: 0,
  suppressDigits: false,
};
const codec = (changes: object) => session({ codec: { ...REMOTE.codec, ...changes } });
const srtp = (changes: object) => ({
  suite: 'AES_CM_128_HMAC_SHA1_80',
  send: new Uint8Array(30),
  receive: new Uint8Array(30),
  receiveMkiBytes: 0,
  ...changes,
});
const MISSING = undefined;

describe('the native side', () => {
  it.each<[string, unknown[], string]>([
    // Sessions.
    ['configureLeg', [1], 'port is missing'],
    ['configureLeg', [0], 'leg must be a whole number from 1 to 4294967295, not 0'],
    [
      'configureLeg',
      codec({ name: 'G729' }),
      'codec.name must be one of PCMU, PCMA, G722, L16, OPUS, not "G729"',
    ],
    ['configureLeg', codec({ name: MISSING }), 'codec.name is missing'],
    [
      'configureLeg',
      codec({ clockRate: 16_000 }),
      'codec.clockRate must be one of 8000, not 16000',
    ],
    [
      'configureLeg',
      codec({ sampleRate: '8000' }),
      'codec.sampleRate must be one of 8000, not "8000"',
    ],
    ['configureLeg', codec({ channels: 2 }), 'codec.channels must be one of 1, not 2'],
    [
      'configureLeg',
      session({ ptimeMs: 25 }),
      'ptimeMs must be one of 10, 20, 30, 40, 50, 60, not 25',
    ],
    [
      'configureLeg',
      session({ port: 65_536 }),
      'port must be a whole number from 0 to 65535, not 65536',
    ],
    [
      'configureLeg',
      session({ address: 'phone.test' }),
      'address must be an IP address, not "phone.test"',
    ],
    [
      'configureLeg',
      session({ payloadType: { send: 0, receive: 128 } }),
      'payloadType.receive must be a whole number from 0 to 127, not 128',
    ],
    [
      'configureLeg',
      session({ telephoneEvent: { send: 101 } }),
      'telephoneEvent.receive is missing',
    ],
    [
      'configureLeg',
      session({ telephoneEvent: { send: 101, receive: 101, clockRate: 44_100 } }),
      'telephoneEvent.clockRate must be one of 8000, 16000, 48000, not 44100',
    ],
    ['configureLeg', codec({ name: 'G722' }), 'codec.sampleRate must be one of 16000, not 8000'],
    [
      'configureLeg',
      codec({ name: 'L16', sampleRate: 16_000 }),
      'codec.clockRate must be one of 16000, not 8000',
    ],
    [
      'configureLeg',
      codec({ name: 'OPUS', clockRate: 48_000, sampleRate: 24_000 }),
      'codec.opus is missing',
    ],
    [
      'configureLeg',
      codec({
        name: 'OPUS',
        clockRate: 48_000,
        sampleRate: 44_100,
        opus: { bitrate: 0, fec: true, dtx: false },
      }),
      'codec.sampleRate must be one of 8000, 16000, 24000, 48000, not 44100',
    ],
    [
      'configureLeg',
      codec({
        name: 'OPUS',
        clockRate: 48_000,
        sampleRate: 48_000,
        opus: { bitrate: 510_001, fec: true, dtx: false },
      }),
      'codec.opus.bitrate must be a whole number from 0 to 510000, not 510001',
    ],
    [
      'configureLeg',
      session({ direction: 'both' }),
      'direction must be one of sendrecv, sendonly, recvonly, inactive, not "both"',
    ],
    ['configureLeg', session({ protection: 'srtp' }), 'protection must be one of none, not "srtp"'],
    [
      'configureLeg',
      session({ protection: srtp({ suite: 'F8_128_HMAC_SHA1_80' }) }),
      'protection.suite must be one of AES_CM_128_HMAC_SHA1_80, AES_CM_128_HMAC_SHA1_32, AES_256_CM_HMAC_SHA1_80, AES_256_CM_HMAC_SHA1_32, AEAD_AES_128_GCM, AEAD_AES_256_GCM, not "F8_128_HMAC_SHA1_80"',
    ],
    [
      'configureLeg',
      session({ protection: srtp({ send: new Uint8Array(29) }) }),
      'protection.send must be 30 bytes, not an object',
    ],
    [
      'configureLeg',
      session({ protection: srtp({ receive: MISSING }) }),
      'protection.receive is missing',
    ],
    [
      'configureLeg',
      session({ protection: srtp({ receiveMkiBytes: 129 }) }),
      'protection.receiveMkiBytes must be a whole number from 0 to 128, not 129',
    ],
    ['openLeg', leg({ port: 0 }), 'port must be a whole number from 1 to 65534, not 0'],
    ['openLeg', leg({ sequence: 1.5 }), 'sequence must be a whole number from 0 to 65535, not 1.5'],
    [
      'openLeg',
      leg({ ssrc: Number.NaN }),
      'ssrc must be a whole number from 0 to 4294967295, not NaN',
    ],
    ['openLeg', leg({ near: 0 }), 'near must be a whole number from 1 to 4294967295, not 0'],
    ['bridge', [1], 'b is missing'],
    ['hearTones', [1, 1], 'wanted must be true or false, not 1'],
    // Playback and detection.
    [
      'playTone',
      [{ ...PLAY, manner: 'loud', tone: TONE }],
      'manner must be one of instead, mixed, alone, not "loud"',
    ],
    [
      'playTone',
      [{ ...PLAY, tone: { ...TONE, steps: [{ ...TONE.steps[0], frequenciesHz: [9000] }] } }],
      'tone.steps[0].frequenciesHz[0] must be a number from 0 to 4000, not 9000',
    ],
    [
      'playTone',
      [{ ...PLAY, tone: { ...TONE, steps: Array(9).fill(TONE.steps[0]) } }],
      'tone has too many steps or frequencies',
    ],
    ['playTone', [{ ...PLAY, tone: { ...TONE, loud: true } }], 'tone.loud is unknown'],
    ['playTone', [{ ...PLAY, tone: TONE, held: true }], 'held is unknown'],
    ['playTone', [{ ...PLAY, tone: 'ringing' }], 'tone must be an object, not "ringing"'],
    ['playTone', [], 'the options object is missing'],
    [
      'statistics',
      [1, new Float64Array(20)],
      'statistics must be a Float64Array of 21, not an object',
    ],
    ['closeLeg', [1], 'statistics is missing'],
    ['playClip', [{ ...PLAY, clip: {} }], 'clip must be a clip, not an object'],
    [
      'sendDigits',
      [{ leg: 1, job: 1, inband: false, steps: [{ digit: 'x', onFrames: 4, offFrames: 4 }] }],
      'steps[0].digit must be one of 0-9, *, #, A-D, not "x"',
    ],
    [
      'record',
      [{ ...RECORD, side: 'left' }],
      'side must be one of received, sent, both, not "left"',
    ],
    [
      'record',
      [{ ...RECORD, maxMs: -1 }],
      'maxMs must be a number from 0 to 2147483647000, not -1',
    ],
    ['pauseRecording', [1, 1, 'yes'], 'paused must be true or false, not "yes"'],
    ['leaveOutSent', [1, 1, 1], 'leftOut must be true or false, not 1'],
    ['detectMachine', [{ leg: 1, job: 1 }], 'totalMs is missing'],
    [
      'joinRoom',
      [{ room: 1, leg: 1, member: 1, muted: 0, deaf: false, held: false }],
      'muted must be true or false, not 0',
    ],
    // Streams.
    [
      'openStream',
      [{ ...STREAM, encoding: 'mulaw' }],
      'encoding must be one of audio/x-l16, audio/x-mulaw, not "mulaw"',
    ],
    ['openStream', [{ ...STREAM, rate: 24_000 }], 'rate must be one of 8000, 16000, not 24000'],
    [
      'openStream',
      [{ ...STREAM, queueMs: 1e12 }],
      'queueMs must be a whole number from 0 to 3600000, not 1000000000000',
    ],
    ['openStream', [{ ...STREAM, sockets: {} }], 'sockets must be a Sockets object, not an object'],
    ['openStream', [{ ...STREAM, sockets }], 'socket is missing'],
    ['openStream', [{ ...STREAM, clean: {} }], 'clean.noise is missing'],
    ...(['noise', 'echo', 'gain'] as const).map((name): [string, unknown[], string] => [
      'openStream',
      [{ ...STREAM, clean: { noise: true, echo: true, gain: true, [name]: 1 } }],
      `clean.${name} must be true or false, not 1`,
    ]),
    ['openStream', [{ ...STREAM, speech: 1 }], 'speech must be an object, not 1'],
    ['openStream', [{ ...STREAM, speech: {} }], 'speech.sensitivity is missing'],
    [
      'openStream',
      speech({ sensitivity: 101 }),
      'speech.sensitivity must be a whole number from 0 to 100, not 101',
    ],
    [
      'openStream',
      speech({ minimumMs: 19 }),
      'speech.minimumMs must be a whole number from 20 to 1000, not 19',
    ],
    [
      'openStream',
      speech({ endMs: 5001 }),
      'speech.endMs must be a whole number from 200 to 5000, not 5001',
    ],
    [
      'openStream',
      speech({ bargeIn: 'stop' }),
      'speech.bargeIn must be one of none, duck, clear, not "stop"',
    ],
    ['openStream', speech({ loud: true }), 'speech.loud is unknown'],
    ['clearedAt', [], 'stream is missing'],
    ['clearedAt', [0], 'stream must be a whole number from 1 to 4294967295, not 0'],
    ['takeEvents', ['x'], 'batch must be a Uint8Array, not "x"'],
  ])('%s rejects a wrong value and names it (%#)', (method, values, message) => {
    expect(() => engine[method]?.(...values)).toThrow(new TypeError(`${method}: ${message}`));
  });

  it('notifySupervisor rejects a wrong value and names it', () => {
    const { notifySupervisor } = native as unknown as Untyped;
    expect(() => notifySupervisor?.('/run/x', 1)).toThrow(
      new TypeError('notifySupervisor: text must be a string, not 1'),
    );
  });

  it('receives every value of a session', () => {
    const whole: Required<MediaSession> = {
      ...REMOTE,
      telephoneEvent: { send: 96, receive: 97, clockRate: 48_000 },
      payloadType: { send: 98, receive: 99 },
      signallingAddress: '192.0.2.9',
      rtcpMux: true,
      rtcpPort: 7003,
      rtcpLearned: true,
      comfortNoise: { send: 105, receive: 106 },
      voipMetrics: true,
      describedAddress: '192.0.2.10',
      acceptOtherSources: true,
      ice: { localUfrag: 'a', localPassword: 'b', remoteUfrag: 'c' },
    };
    const { codec: ours, payloadType, telephoneEvent, comfortNoise, ...plain } = whole;
    const all = [plain, ours, payloadType, telephoneEvent ?? {}, comfortNoise ?? {}].flatMap(
      Object.values,
    );
    expect([...sessionValues(whole)].filter((value) => value !== undefined).sort()).toEqual(
      all.sort(),
    );
  });

  it('rejects wrong values of sockets, clips and streams too', () => {
    const untyped = sockets as unknown as Untyped;
    const open = (changes: object) => () =>
      untyped['open']?.({
        socket: 1,
        addresses: ['127.0.0.1'],
        port: 80,
        secureHost: '',
        request: new Uint8Array(1),
        limits: {},
        account: 'x',
        ...changes,
      });
    expect(open({})).toThrow(new TypeError('open: limits.maxMessageBytes is missing'));
    expect(open({ addresses: ['localhost'] })).toThrow('open: addresses[0] must be an IP address');
    expect(open({ port: 0 })).toThrow('open: port must be a whole number from 1 to 65535, not 0');
    expect(() => untyped['send']?.(1, 'text', false)).toThrow('send: text must be a Uint8Array');
    expect(() => native.makeClip(new Uint8Array(2), 11_025, 8000)).toThrow(
      'makeClip: rate must be one of',
    );
    const stream = typed.openStream(STREAM as never) as unknown as Untyped;
    expect(() => stream['enqueue']?.('audio/x-l16', 44_100, new Uint8Array(2))).toThrow(
      'enqueue: rate must be one of 8000, 16000, 24000, not 44100',
    );
    expect(() => new native.Engine(true, 'localhost', () => undefined, 1, true)).toThrow(
      'Engine: rtpHost must be an IP address, not "localhost"',
    );
    expect(() => new native.Engine(true, '127.0.0.1', () => undefined, 65, true)).toThrow(
      'Engine: threads must be a whole number from 1 to 64, not 65',
    );
  });

  it('names the error of a port that cannot be opened: used, or not local', () => {
    const open = (host: string): number => {
      const own = new native.Engine(false, host, () => undefined, 1, true);
      try {
        return own.openLeg(33_100, 1, 2, 3, 0, 20);
      } finally {
        own.stop();
      }
    };
    expect(open('127.0.0.1')).toBeGreaterThan(0);
    expect(open('192.0.2.1')).toBe(-99); // EADDRNOTAVAIL
  });
});
