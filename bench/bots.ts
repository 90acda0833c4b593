/**
 * Voice bots: time from the caller's first sound to silence of the bot at the caller, precision and recall of speech
 * detection, its CPU time, and machine detection. Virtual time, synthetic speech (espeak-ng and flite).
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bytesOf } from './bots/audio.ts';
import { type Detected, type Judged, judge, quantile } from './bots/detection.ts';
import { type Greeting, greeting } from './bots/greetings.ts';
import { silenceDelays } from './bots/interrupting.ts';
import { type Scene, scenes } from './bots/scenes.ts';
import { isQuick, least, most, type Row } from './row.ts';

const DETECTOR = new URL('../build/native/speech_bench', import.meta.url).pathname;
const NATIVE = new URL('../native', import.meta.url).pathname;
const BUILD = new URL('../build/native', import.meta.url).pathname;
const PHRASES = isQuick ? 16 : 80;
const GREETINGS = isQuick ? 50 : 500;

export async function run(): Promise<Row[]> {
  execFileSync('cmake', ['-S', NATIVE, '-B', BUILD], { stdio: 'ignore' });
  execFileSync('cmake', ['--build', BUILD, '--target', 'speech_bench'], { stdio: 'ignore' });
  const folder = mkdtempSync(join(tmpdir(), 'bots-'));
  try {
    return [...(await interruptions()), ...detection(folder), ...machines(folder)];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function interruptions(): Promise<readonly Row[]> {
  const delays = await silenceDelays(isQuick ? 20 : 100);
  const note = `${delays.length} interruptions; p90 ${quantile(delays, 0.9).toFixed(0)} ms, largest ${(delays.at(-1) ?? 0).toFixed(0)} ms; packets of 20 ms, no network delay`;
  return [
    {
      name: 'first voiced sound to silence at the caller, p50',
      value: quantile(delays, 0.5),
      unit: 'ms',
      goal: most(60),
      note,
    },
    {
      name: 'first voiced sound to silence at the caller, p99',
      value: quantile(delays, 0.99),
      unit: 'ms',
      goal: most(100),
    },
  ];
}

interface Found {
  readonly cpuUsPerSecond: number;
  readonly events: readonly Detected[];
}

function detection(folder: string): readonly Row[] {
  const all = scenes(PHRASES);
  const found = detect(folder, all);
  const judged = all.map((scene, i) => judge(scene, found[i]?.events ?? []));
  const noisy = judged.filter((_, i) => all[i]?.name.endsWith('noise, 10 dB SNR'));
  const sum = (of: (one: Judged) => number): number =>
    noisy.reduce((total, one) => total + of(one), 0);
  return [
    {
      name: 'recall in noise at 10 dB',
      value: (100 * sum(({ found: count }) => count)) / sum(({ spoken }) => spoken),
      unit: '%',
      goal: least(98),
      note: `${sum(({ spoken }) => spoken)} phrases in seven kinds of noise`,
    },
    {
      name: 'false detections in noise at 10 dB',
      value: sum(({ falseStarts }) => falseStarts) / sum(({ minutes }) => minutes),
      unit: 'per minute',
      goal: most(1),
    },
    {
      name: 'CPU time of speech detection',
      value: Math.max(...found.map(({ cpuUsPerSecond }) => cpuUsPerSecond)),
      unit: 'µs per call-second',
      goal: most(40),
      note: 'most expensive scene',
    },
    ...judged.map((one, i) => sceneRow(all[i]?.name ?? '', one)),
  ];
}

function sceneRow(name: string, { spoken, found, falseStarts, minutes, delaysMs }: Judged): Row {
  const times = `p50 ${quantile(delaysMs, 0.5).toFixed(0)} ms, p90 ${quantile(delaysMs, 0.9).toFixed(0)} ms after the first sound`;
  const note = spoken === 0 ? {} : { note: `${found} of ${spoken} phrases; ${times}` };
  return {
    name: `false detections: ${name}`,
    value: falseStarts / minutes,
    unit: 'per minute',
    ...note,
  };
}

function detect(folder: string, all: readonly Scene[]): readonly Found[] {
  const lines = all.map(({ heard, sent }, i) => {
    const files = [heard, sent].flatMap((audio, side) =>
      audio === undefined ? [] : [write(join(folder, `${i}-${side}.raw`), audio)],
    );
    return files.join('\t');
  });
  return ask(['speech', '50', '40', '500'], lines) as Found[];
}

interface Verdict {
  readonly machine: boolean;
  readonly afterMs: number;
}

function machines(folder: string): readonly Row[] {
  const greetings = Array.from({ length: GREETINGS }, (_, i) => greeting(i));
  const files = greetings.map(({ audio }, i) => write(join(folder, `greeting-${i}.raw`), audio));
  const verdicts = ask(['machine'], files) as Verdict[];
  return [...judged(greetings, verdicts), ...earlier(greetings, files)];
}

/** Greetings of at most this length, in ms, count as those of people. */
const EARLIER_MS = [1500, 2000, 2500, 2800];

/** Shares of right verdicts if the detector decided earlier. */
function earlier(greetings: readonly Greeting[], files: readonly string[]): readonly Row[] {
  return EARLIER_MS.map((limitMs) => {
    const verdicts = ask(['machine', String(limitMs)], files) as Verdict[];
    const share = (machine: boolean): number => {
      const of = greetings.map((one, i) => [one.machine, verdicts[i]?.machine] as const);
      const alike = of.filter(([expected]) => expected === machine);
      return (100 * alike.filter(([, found]) => found === machine).length) / alike.length;
    };
    return {
      name: `machine detection: people recognized with a limit of ${limitMs / 1000} s`,
      value: share(false),
      unit: '%',
      note: `machines ${share(true).toFixed(1)} %`,
    };
  });
}

function judged(greetings: readonly Greeting[], verdicts: readonly Verdict[]): readonly Row[] {
  return [false, true].map((machine) => {
    const of = greetings.flatMap((one, i) => {
      const verdict = verdicts[i];
      return one.machine === machine && verdict !== undefined ? [{ one, verdict }] : [];
    });
    const right = of.filter(({ verdict }) => verdict.machine === machine);
    const after = ({ one, verdict }: { readonly one: Greeting; readonly verdict: Verdict }) =>
      verdict.afterMs - (machine ? one.startMs : one.endMs);
    const times = of.map(after).toSorted((a, b) => a - b);
    const from = machine ? 'begin' : 'end';
    return {
      name: `machine detection: ${machine ? 'machines' : 'people'} recognized`,
      value: (100 * right.length) / of.length,
      unit: '%',
      goal: least(98),
      note: `${of.length} greetings; verdict p50 ${quantile(times, 0.5).toFixed(0)} ms, p95 ${quantile(times, 0.95).toFixed(0)} ms, p99 ${quantile(times, 0.99).toFixed(0)} ms after the ${from} of the greeting`,
    };
  });
}

function write(file: string, audio: Float32Array): string {
  writeFileSync(file, bytesOf(audio));
  return file;
}

const ask = (args: readonly string[], lines: readonly string[]): unknown[] =>
  execFileSync(DETECTOR, args, { input: lines.join('\n'), maxBuffer: 1 << 28 })
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
