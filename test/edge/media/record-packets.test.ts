/** Recordings of two connected legs whose senders have other clocks, over a network with jitter and loss. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MediaLeg, MediaSession } from '../../../src/domain/call/needs.ts';
import type { ManualDrive, MediaEngine } from '../../../src/edge/media/engine.ts';
import { encodeMulaw, FRAME, l16, manualEngine, REMOTE, rms, rtp, sine } from './peer.ts';

const SECONDS = 60;
/** Time step of the test in ms. */
const STEP = 5;
const PULSE = 24_000;

let folder = '';
let media: MediaEngine;
let drive: ManualDrive;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'record-packets-'));
  ({ media, drive } = manualEngine());
});
afterEach(async () => {
  await media.stop();
  rmSync(folder, { recursive: true });
});

/** A sender with a pulse at each second of real time, over a quiet tone. */
class Sender {
  readonly #leg: MediaLeg;
  readonly #address: string;
  readonly #skew: number;
  readonly #waiting: { atMs: number; bytes: Uint8Array }[] = [];
  #seed: number;
  #number = 0;

  constructor(leg: MediaLeg, address: string, skew: number) {
    this.#leg = leg;
    this.#address = address;
    this.#skew = skew;
    this.#seed = leg.port;
  }

  #random(): number {
    this.#seed = (this.#seed * 48_271) % 0x7fff_ffff;
    return this.#seed / 0x7fff_ffff;
  }

  /** Sends the packets of this time, and delivers those that arrive. Returns the number of lost ones. */
  run(nowMs: number): void {
    for (; this.#number * 20 * (1 + this.#skew) <= nowMs; this.#number += 1) {
      const atMs = this.#number * 20 * (1 + this.#skew) + this.#random() * 15;
      if (this.#random() < 0.02) continue;
      this.#waiting.push({ atMs, bytes: this.#packet(this.#number) });
    }
    this.#waiting.sort((a, b) => a.atMs - b.atMs);
    while ((this.#waiting[0]?.atMs ?? Infinity) <= nowMs) {
      const { atMs, bytes } = this.#waiting.shift()!;
      const from = { address: this.#address, port: REMOTE.port };
      drive.inject(this.#leg.port, from, bytes, atMs);
    }
  }

  #packet(number: number): Uint8Array {
    const samples = sine(200, FRAME, { from: number * FRAME, peak: 1000 });
    for (let i = 0; i < FRAME; i += 1) {
      const realMs = (number * 20 + i / 8) * (1 + this.#skew);
      if (realMs % 1000 < 0.2) samples[i] = PULSE;
    }
    return rtp({
      payloadType: 0,
      sequence: number,
      timestamp: number * FRAME,
      ssrc: this.#leg.port,
      payload: encodeMulaw(samples),
    });
  }
}

/** Times of the pulses in ms, by second. */
function pulses(samples: Int16Array): Map<number, number> {
  const found = new Map<number, number>();
  samples.forEach((value, i) => {
    const second = Math.round(i / 8000);
    if (Math.abs(value) > PULSE / 2 && !found.has(second)) found.set(second, i / 8);
  });
  return found;
}

async function connectedLegs(codecs: readonly Partial<MediaSession>[]) {
  const legs: MediaLeg[] = [];
  const senders: Sender[] = [];
  for (const [i, codec] of codecs.entries()) {
    const address = `192.0.2.${i + 1}`;
    const leg = await media.openLeg(
      { mediaTimeoutMs: 0 },
      { dtmf: () => undefined, silent: () => undefined },
    );
    leg.configure({ ...REMOTE, ...codec, address });
    legs.push(leg);
    senders.push(new Sender(leg, address, i === 0 ? 200e-6 : -200e-6));
  }
  return { legs, senders };
}

describe('a recording of a bridged leg', () => {
  it.each([
    { way: 'relayed', prompts: false },
    { way: 'mixed with a prompt', prompts: true },
  ])('has both voices aligned within 5 ms and complete: $way', async ({ prompts }) => {
    const { legs, senders } = await connectedLegs([{}, {}]);
    const [a, b] = legs as [MediaLeg, MediaLeg];
    media.bridge(a, b);
    const path = join(folder, 'call.wav');
    const recording = a.record({
      path,
      channels: 'both',
      stereo: true,
      silenceEndMs: 0,
      maxMs: 0,
    });
    if (prompts) {
      const prompt = { rate: 8000, samples: l16(sine(1000, 8000, { peak: 2000 })) } as const;
      a.play(prompt, { loop: 0, mix: true });
    }
    for (let nowMs = 0; nowMs < SECONDS * 1000; nowMs += STEP) {
      drive.advance(STEP);
      for (const sender of senders) sender.run(drive.nowMs());
    }
    recording.stop();
    drive.advance(200);
    expect(await recording.finished).toMatchObject({ durationMs: SECONDS * 1000 });
    const data = readFileSync(path).subarray(44);
    const samples = new Int16Array(
      data.buffer.slice(data.byteOffset, data.byteOffset + data.length),
    );
    const left = samples.filter((_, i) => i % 2 === 0);
    const right = samples.filter((_, i) => i % 2 === 1);
    const callee = pulses(right);
    const differences: number[] = [];
    for (const [second, atMs] of pulses(left)) {
      const other = callee.get(second);
      if (second >= 2 && other !== undefined) differences.push(Math.abs(atMs - other));
    }
    // A pulse in a lost packet is missing.
    expect(differences.length).toBeGreaterThan(SECONDS * 0.85);
    expect(Math.max(...differences)).toBeLessThan(5);
    const quiet = right.subarray(8000 * 10 + 2000, 8000 * 10 + 4000);
    expect(rms(quiet)).toBeGreaterThan(prompts ? 1400 : 600);
    expect(rms(quiet)).toBeLessThan(prompts ? 1700 : 800);
  });
});
