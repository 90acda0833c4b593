import { afterEach, describe, expect, it } from 'vitest';
import type { MediaLeg, MediaSession, SessionCodec } from '../../../src/domain/call/needs.ts';
import type { MediaEngine } from '../../../src/edge/media/engine.ts';
import { FRAME, manualEngine, Peer, parseRtp, REMOTE, type Rtp, sine } from './peer.ts';

const engines: MediaEngine[] = [];
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.stop();
});

const PCMU: SessionCodec = REMOTE.codec;
const G722: SessionCodec = { name: 'G722', clockRate: 8000, sampleRate: 16_000, channels: 1 };
const L16: SessionCodec = { name: 'L16', clockRate: 16_000, sampleRate: 16_000, channels: 1 };
const OPUS: SessionCodec = {
  name: 'OPUS',
  clockRate: 48_000,
  sampleRate: 24_000,
  channels: 1,
  opus: { bitrate: 0, fec: true, dtx: false },
};
const LISTENER_PORT = 42_000;

const session = (codec: SessionCodec, ptimeMs = 20): MediaSession => ({
  ...REMOTE,
  port: LISTENER_PORT,
  codec,
  ptimeMs,
  payloadType: { send: 96, receive: 96 },
});

/** A PCMU leg whose peer sends a tone, and a leg that receives it over a bridge. */
async function scene() {
  const { media, drive } = manualEngine();
  engines.push(media);
  const digits: string[] = [];
  const open = (): Promise<MediaLeg> =>
    media.openLeg(
      { mediaTimeoutMs: 0 },
      { dtmf: (digit) => digits.push(digit), silent: () => undefined },
    );
  const [talker, listener] = [await open(), await open()];
  talker.configure(REMOTE);
  const peer = new Peer(drive, talker.port);
  const sent: Rtp[] = [];
  const collect = (): number => {
    const packets = drive.drain().filter(({ port }) => port === LISTENER_PORT);
    sent.push(...packets.map(({ bytes }) => parseRtp(bytes)));
    return packets.length;
  };
  let said = 0;
  /** Sends packets. Returns how many were passed on at the moment of their arrival. */
  const talk = (packets: number, audio = (from: number) => sine(400, FRAME, { from })): number => {
    let passed = 0;
    for (let i = 0; i < packets; i += 1) {
      collect();
      const samples = audio(said);
      peer.send(samples);
      said += samples.length;
      drive.advance(0);
      passed += collect();
      drive.advance(samples.length / 8);
    }
    collect();
    return passed;
  };
  return { media, drive, talker, listener, talk, sent, digits };
}

/** Checks that the packets from this one on follow each other without a gap. */
function expectWhole(sent: readonly Rtp[], ticks: number, from = 0): void {
  const steps = sent.slice(from + 1).map((packet, i) => {
    const before = sent[from + i]!;
    return [
      (packet.sequence - before.sequence) & 0xffff,
      (packet.timestamp - before.timestamp) >>> 0,
    ];
  });
  expect(steps.length).toBeGreaterThan(5);
  expect(steps.filter(([packets, time]) => packets !== 1 || time !== ticks)).toEqual([]);
}

describe('a bridge of two codecs', () => {
  it.each([
    ['G722', G722, 20, 160],
    ['L16', L16, 20, 320],
    ['OPUS', OPUS, 20, 960],
    ['PCMU in packets of 40 ms', PCMU, 40, 320],
  ] as const)('%s: passes packets on when they arrive', async (_, codec, ptimeMs, ticks) => {
    const { media, talker, listener, talk, sent } = await scene();
    listener.configure(session(codec, ptimeMs));
    media.bridge(talker, listener);
    talk(20);
    expect(talk(40)).toBe((40 * 20) / ptimeMs);
    expectWhole(sent, ticks);
  });

  it('passes packets on after a change of codec or of packet time during the bridge', async () => {
    const { media, talker, listener, talk, sent } = await scene();
    listener.configure(session(PCMU));
    media.bridge(talker, listener);
    expect(talk(20)).toBeGreaterThan(15);
    for (const [codec, ptimeMs] of [
      [OPUS, 20],
      [G722, 20],
      [G722, 40],
      [PCMU, 20],
    ] as const) {
      listener.configure(session(codec, ptimeMs));
      talk(150);
      const from = sent.length;
      expect(talk(20)).toBe((20 * 20) / ptimeMs);
      expectWhole(sent, codec === OPUS ? 960 : 8 * ptimeMs, from);
    }
  });

  it.each([
    ['G722', G722],
    ['OPUS', OPUS],
  ] as const)(
    'has audio after a change from %s to PCMU if the talker sends packets of 10 ms',
    async (_, codec) => {
      const { media, talker, listener, talk, sent } = await scene();
      listener.configure(session(codec));
      media.bridge(talker, listener);
      talk(20);
      listener.configure(session(PCMU));
      const short = (from: number) => sine(400, FRAME / 2, { from });
      talk(200, short);
      const from = sent.length;
      talk(40, short);
      expectWhole(sent, FRAME, from);
    },
  );

  it.each([10, 30, 40, 60])(
    'keeps the packet time of the listener if the talker changes to packets of %i ms',
    async (ms) => {
      const { media, talker, listener, talk, sent } = await scene();
      listener.configure(session(PCMU));
      media.bridge(talker, listener);
      expect(talk(20)).toBeGreaterThan(15);
      const other = (from: number) => sine(400, 8 * ms, { from });
      talk(50, other);
      const from = sent.length;
      talk(20, other);
      expectWhole(sent, FRAME, from);
      talk(20);
      expect(talk(20)).toBe(20);
    },
  );

  it('passes packets on between other legs after it was replaced', async () => {
    const { media, talker, listener, talk, sent } = await scene();
    const other = await media.openLeg(
      { mediaTimeoutMs: 0 },
      { dtmf: () => undefined, silent: () => undefined },
    );
    other.configure({ ...session(G722), port: LISTENER_PORT + 2 });
    media.bridge(talker, other);
    talk(20);
    listener.configure(session(OPUS));
    const bridge = media.bridge(talker, listener);
    talk(5);
    expect(talk(20)).toBe(20);
    expectWhole(sent, 960);
    bridge.close();
    expect(talk(20)).toBe(0);
    other.close();
    media.bridge(talker, listener);
    talk(5);
    expect(talk(20)).toBe(20);
  });

  it('detects tones of keys without delaying the audio', async () => {
    const { media, talker, listener, talk, sent, digits } = await scene();
    listener.configure(session(G722));
    media.bridge(talker, listener);
    talker.configure({ ...REMOTE, telephoneEvent: undefined });
    talker.hearTones(true);
    talk(20);
    const five = (from: number): Int16Array => {
      const place = { from, peak: 6000 };
      const high = sine(1336, FRAME, place);
      return sine(770, FRAME, place).map((value, i) => value + high[i]!);
    };
    expect(talk(8, five)).toBe(8);
    expect(talk(20)).toBe(20);
    expect(digits).toEqual(['5']);
    expectWhole(sent, 160);
  });
});
