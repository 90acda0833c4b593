import { expect, it } from 'vitest';
import { judge, residentGrowth, type Sample } from './judgement.ts';
import { linePlot } from './plot.ts';

const samples = (change: (at: number) => Partial<Sample>): readonly Sample[] =>
  Array.from({ length: 50 }, (_, at) => ({
    atMs: at * 60_000,
    residentMiB: 200 + Math.min(at, 10),
    heapMiB: 60 + (at % 3),
    descriptors: 60,
    timers: 100,
    diskMiB: 10 + at * 0.5,
    calls: at * 20,
    setupMs: 80 + (at % 5),
    ...change(at),
  }));
const notFlat = (change: (at: number) => Partial<Sample>): readonly string[] =>
  judge(samples(change))
    .filter(({ isFlat }) => !isFlat)
    .map(({ title }) => title);

it('accepts a run whose values stay the same after the warm-up', () => {
  expect(notFlat(() => ({}))).toEqual([]);
});

it.each([
  ['resident memory', (at: number) => ({ residentMiB: 200 + at * 3 })],
  ['open descriptors', (at: number) => ({ descriptors: 60 + at })],
  ['timers', (at: number) => ({ timers: 100 + at * 4 })],
  ['disk per call', (at: number) => ({ diskMiB: 10 + at * at * 0.05 })],
  ['setup time, 99th percentile', (at: number) => ({ setupMs: 80 + at * 8 })],
  ['JavaScript heap', () => ({ heapMiB: Number.NaN })],
])('reports growth or a lack of samples: %s', (title, change) => {
  expect(notFlat(change)).toEqual([title]);
});

it('compares resident memory at the end with its value around half of the calls', () => {
  const ratioOf = (change: (at: number) => Partial<Sample>) => residentGrowth(samples(change));
  expect(ratioOf(() => ({}))).toMatchObject({ isFlat: true });
  const grown = ratioOf((at) => ({ residentMiB: 200 + 5 * at }));
  expect(grown.ratio).toBeCloseTo(435 / 325, 1);
  expect(grown.isFlat).toBe(false);
  expect(grown.steps.map(({ calls }) => calls).slice(0, 2)).toEqual([100, 200]);
  expect(residentGrowth([])).toMatchObject({ isFlat: false });
});

it('plots a series', () => {
  const svg = linePlot('memory <x>', 'MiB', [
    { x: 0, y: 1 },
    { x: 2, y: 4 },
  ]);
  expect(svg).toContain('memory &lt;x> (MiB)');
  expect(svg).toMatch(/<polyline[^>]* points="80\.0,\S+ 708\.0,\S+"/);
});
