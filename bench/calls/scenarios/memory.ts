/** RSS: idle, and whether it stays where it is as calls come and go. */
import { setTimeout as pause } from 'node:timers/promises';
import { isQuick, most, mostTimesFloor, type Row } from '../../row.ts';
import { rssMib } from '../accounting.ts';
import { Rig, type RigOptions } from '../rig.ts';
import { Service } from '../service.ts';

/** Conversion threads end after an idle minute, the heap is compacted before. */
const IDLE_MS = 70_000;
const RATE = 200;
/** Calls per phase. The caches of recent calls are full after the first phase. `BENCH_MEMORY_CALLS` sets the second, up to a million. */
const FIRST = isQuick ? 500 : 10_000;
const LAST = Number(process.env['BENCH_MEMORY_CALLS'] ?? (isQuick ? 1000 : 40_000));
const IDLE_MIB = 150;
const GROWTH = 1.2;

export async function memoryRows(title: string, options: RigOptions): Promise<readonly Row[]> {
  const idle = await Service.start({ ...options, customerUrl: 'http://127.0.0.1:9' });
  await pause(IDLE_MS);
  const idleMib = rssMib(idle.pid);
  await idle.stop();
  const rig = await Rig.start(options);
  const { pid } = rig.service;
  await rig.step(RATE, FIRST / RATE);
  const firstMib = rssMib(pid);
  await rig.step(RATE, (LAST - FIRST) / RATE);
  const lastMib = rssMib(pid);
  await rig.stop();
  const at = `at ${RATE}/s`;
  return [
    { name: `${title}: RSS idle`, value: idleMib, unit: 'MiB', goal: most(IDLE_MIB) },
    { name: `${title}: RSS after ${FIRST} calls`, value: firstMib, unit: 'MiB', note: at },
    {
      name: `${title}: RSS after ${LAST} calls`,
      value: lastMib,
      unit: 'MiB',
      floor: firstMib,
      ratio: lastMib / firstMib,
      goal: mostTimesFloor(GROWTH),
      note: at,
    },
  ];
}
