import { expect, it } from 'vitest';
import { Turns } from '../../../src/domain/interpreter/turns.ts';

it('summarizes turns by nearest-rank percentiles', () => {
  const turns = new Turns();
  expect(turns.summary()).toBeUndefined();
  for (const latencyMs of [300, 100, 200, 400]) turns.took(latencyMs);
  turns.interrupted();
  expect(turns.summary()).toEqual({ count: 4, interruptions: 1, p50Ms: 200, p95Ms: 400 });
});

it('counts interruptions without turns, and limits the stored latencies', () => {
  const turns = new Turns();
  turns.interrupted();
  expect(turns.summary()).toEqual({ count: 0, interruptions: 1, p50Ms: 0, p95Ms: 0 });
  for (let i = 0; i < 5000; i += 1) turns.took(i < 2000 ? 10 : 9999);
  expect(turns.summary()).toMatchObject({ count: 5000, p95Ms: 10 });
});
