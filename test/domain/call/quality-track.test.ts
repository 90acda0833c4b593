import { describe, expect, it } from 'vitest';
import { type QualitySample, QualityTrack } from '../../../src/domain/call/quality-track.ts';

const sample = (atUs: number): QualitySample => ({
  atUs,
  packetsReceived: atUs,
  packetsSent: atUs,
  packetsLost: 0,
  packetsLate: 0,
  jitterMs: 0,
  lossFraction: 0,
  mos: 4.4,
  roundTripMs: undefined,
});

describe('quality samples of a call', () => {
  it('are all kept until the track is full', () => {
    const track = new QualityTrack();
    for (let at = 0; at < 100; at += 1) track.add(sample(at));
    expect(track.samples().map(({ atUs }) => atUs)).toEqual(
      Array.from({ length: 100 }, (_, i) => i),
    );
  });

  it('cover a 24 h call evenly in bounded memory, including its end', () => {
    const track = new QualityTrack();
    const samples = (24 * 3600) / 5;
    for (let at = 0; at < samples; at += 1) track.add(sample(at));
    track.end(sample(samples));
    const times = track.samples().map(({ atUs }) => atUs);
    expect(times.length).toBeLessThanOrEqual(QualityTrack.MAX_SAMPLES);
    expect(times.length).toBeGreaterThan(QualityTrack.MAX_SAMPLES / 2);
    expect(times[0]).toBe(0);
    expect(times.at(-1)).toBe(samples);
    const steps = new Set(times.slice(1, -1).map((time, index) => time - (times[index] ?? 0)));
    expect(steps.size).toBe(1);
  });
});
