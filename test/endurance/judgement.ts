/** Samples of a long run, and whether they stay flat. */
import type { Point } from './plot.ts';

export interface Sample {
  readonly atMs: number;
  readonly residentMiB: number;
  readonly heapMiB: number;
  readonly descriptors: number;
  readonly timers: number;
  readonly diskMiB: number;
  /** Finished calls so far. */
  readonly calls: number;
  /** 99th percentile of the setup times since the last sample, ms; NaN without calls. */
  readonly setupMs: number;
}

export interface Series {
  readonly title: string;
  readonly unit: string;
  readonly points: readonly Point[];
  /** Medians of the third fifth and of the last fifth of the run. */
  readonly early: number;
  readonly late: number;
  readonly limit: number;
  readonly isFlat: boolean;
}

const HOUR_MS = 3_600_000;

interface Kind {
  readonly title: string;
  readonly unit: string;
  readonly of: (sample: Sample, before: Sample | undefined) => number;
  /** Permitted growth: a share of the early value, and an amount below which growth is noise. */
  readonly share: number;
  readonly noise: number;
}

const KINDS: readonly Kind[] = [
  {
    title: 'resident memory',
    unit: 'MiB',
    of: ({ residentMiB }) => residentMiB,
    share: 0.1,
    noise: 16,
  },
  { title: 'JavaScript heap', unit: 'MiB', of: ({ heapMiB }) => heapMiB, share: 0.15, noise: 12 },
  {
    title: 'open descriptors',
    unit: 'count',
    of: ({ descriptors }) => descriptors,
    share: 0.1,
    noise: 12,
  },
  { title: 'timers', unit: 'count', of: ({ timers }) => timers, share: 0.2, noise: 30 },
  {
    title: 'disk per call',
    unit: 'KiB',
    of: ({ diskMiB, calls }, before) =>
      before === undefined || calls === before.calls
        ? Number.NaN
        : ((diskMiB - before.diskMiB) * 1024) / (calls - before.calls),
    share: 0.3,
    noise: 20,
  },
  {
    title: 'setup time, 99th percentile',
    unit: 'ms',
    of: ({ setupMs }) => setupMs,
    share: 0.5,
    noise: 100,
  },
];

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/**
 * Compares the third fifth of the run with its last fifth, because caches and pools still fill before. A series without
 * samples in one of them is not flat.
 */
export function judge(samples: readonly Sample[]): readonly Series[] {
  const totalMs = samples.at(-1)?.atMs ?? 0;
  return KINDS.map(({ title, unit, of, share, noise }) => {
    const all = samples
      .map((sample, index) => ({ atMs: sample.atMs, y: of(sample, samples[index - 1]) }))
      .filter(({ y }) => Number.isFinite(y));
    const within = (from: number, to: number): number =>
      median(
        all.filter(({ atMs }) => atMs > from * totalMs && atMs <= to * totalMs).map(({ y }) => y),
      );
    const [early, late] = [within(0.4, 0.6), within(0.8, 1)];
    const limit = early + Math.max(noise, early * share);
    const points = all.map(({ atMs, y }) => ({ x: atMs / HOUR_MS, y }));
    return { title, unit, points, early, late, limit, isFlat: late <= limit };
  });
}

/** Calls after which caches and pools have filled. */
const WARM_CALLS = 10_000;
const GROWTH_MAX = 1.2;
const GROWTH_STEPS = 10;

export interface ResidentGrowth {
  /** Resident memory after a tenth of the calls, two tenths, and so on. */
  readonly steps: readonly Pick<Sample, 'calls' | 'residentMiB' | 'heapMiB'>[];
  /**
   * Resident memory in the last tenth of the run, divided by its value around 10,000 calls, or around half of a shorter run;
   * medians, because garbage collection changes memory by a third.
   */
  readonly ratio: number;
  readonly isFlat: boolean;
}

/** Compares resident memory of a run that counts calls: the end with the state after the warm-up. */
export function residentGrowth(samples: readonly Sample[]): ResidentGrowth {
  const last = samples.at(-1);
  const total = last?.calls ?? 0;
  const after = (calls: number): Sample | undefined => samples.find((one) => one.calls >= calls);
  const around = (from: number, to: number): number =>
    median(
      samples
        .filter(({ calls }) => calls >= from && calls <= to)
        .map(({ residentMiB }) => residentMiB),
    );
  const warm = Math.min(WARM_CALLS, total / 2);
  const ratio = around(total * (1 - 1 / GROWTH_STEPS), total) / around(warm * 0.8, warm * 1.2);
  const steps = Array.from({ length: GROWTH_STEPS }, (_, at) =>
    after((total * (at + 1)) / GROWTH_STEPS),
  );
  return {
    steps: steps.filter((one) => one !== undefined),
    ratio,
    isFlat: ratio <= GROWTH_MAX,
  };
}

export const growthReport = ({ steps, ratio, isFlat }: ResidentGrowth): readonly string[] => [
  '| calls | resident memory, MiB | JavaScript heap, MiB |',
  '|-:|-:|-:|',
  ...steps.map(
    ({ calls, residentMiB, heapMiB }) =>
      `| ${calls} | ${residentMiB.toFixed(1)} | ${heapMiB.toFixed(1)} |`,
  ),
  '',
  `Ratio ${ratio.toFixed(2)} (limit ${GROWTH_MAX}): ${isFlat ? 'flat' : '**grows**'}.`,
  '',
];
