/** Simulated networks: loss, delay and duplication of packets. Each is deterministic. */
import type { SessionCodec } from '../../src/domain/call/needs.ts';

export interface Packet {
  readonly atMs: number;
  readonly bytes: Uint8Array;
}

export interface Network {
  readonly name: string;
  carry(packets: readonly Packet[]): readonly Packet[];
}

export const HEARING_RATE = 16_000;

export const CODECS: readonly SessionCodec[] = [
  { name: 'PCMU', clockRate: 8000, sampleRate: 8000, channels: 1 },
  { name: 'G722', clockRate: 8000, sampleRate: 16_000, channels: 1 },
  {
    name: 'OPUS',
    clockRate: 48_000,
    sampleRate: 24_000,
    channels: 1,
    opus: { bitrate: 0, fec: true, dtx: false },
  },
];

/** 0 … 1, mulberry32 (T. Ettinger). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let z = Math.imul(state ^ (state >>> 15), state | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return ((z ^ (z >>> 14)) >>> 0) / 2 ** 32;
  };
}

const loses = (percent: number): Network => ({
  name: `${percent} % lost`,
  carry: (packets) => {
    const next = random(percent);
    return packets.filter(() => next() * 100 >= percent);
  },
});

const bursts = (length: number): Network => ({
  name: `bursts of ${length} packets, one each second`,
  carry: (packets) => packets.filter((_, index) => index % 50 < 25 || index % 50 >= 25 + length),
});

/** Alternating good and bad states; bad states last four packets on average (Gilbert model). */
const gilbert = (percent: number): Network => ({
  name: `${percent} % lost in bursts`,
  carry: (packets) => {
    const next = random(percent);
    const [end, begin] = [1 / 4, percent / (100 - percent) / 4];
    let bad = false;
    return packets.filter(() => {
      bad = next() < (bad ? 1 - end : begin);
      return !bad;
    });
  },
});

const jitter = (ms: number): Network => ({
  name: `up to ${ms} ms of jitter`,
  carry: (packets) => {
    const next = random(ms);
    return packets.map(({ atMs, bytes }) => ({ atMs: atMs + next() * ms, bytes }));
  },
});

const drift = (ppm: number): Network => ({
  name: `a clock ${ppm} ppm off`,
  carry: (packets) => packets.map(({ atMs, bytes }) => ({ atMs: atMs * (1 + ppm / 1e6), bytes })),
});

export const NETWORKS: readonly Network[] = [
  { name: 'nothing lost', carry: (packets) => packets },
  loses(1),
  loses(3),
  loses(5),
  loses(10),
  gilbert(5),
  bursts(2),
  bursts(4),
  jitter(10),
  jitter(40),
  jitter(80),
  {
    name: 'every tenth packet two late',
    carry: (packets) =>
      packets.map(({ atMs, bytes }, index) => ({
        atMs: atMs + (index % 10 === 5 ? 45 : 0),
        bytes,
      })),
  },
  { name: 'every packet twice', carry: (packets) => packets.flatMap((packet) => [packet, packet]) },
  drift(200),
  drift(-200),
  {
    name: 'a stall of 500 ms in the middle',
    carry: (packets) =>
      packets.map(({ atMs, bytes }) => ({
        atMs: atMs >= 3000 && atMs < 3500 ? 3500 : atMs,
        bytes,
      })),
  },
];
