/** RSS: idle, and whether it stays where it is as calls come and go. */
import { setTimeout as pause } from 'node:timers/promises';
import { isQuick, type Row } from '../../row.ts';
import { rssMib } from '../accounting.ts';
import { Rig, type RigOptions } from '../rig.ts';
import { Service } from '../service.ts';

/** Conversion threads end after an idle minute, the heap is compacted before. */
const IDLE_MS = 70_000;
const RATE = 100;
const CALLS = isQuick ? [500, 1000] : [5000, 10_000];

export async function memoryRows(title: string, options: RigOptions): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const note = (name: string, pid: number, more: string): void => {
    rows.push({ name: `${title}: RSS ${name}`, value: rssMib(pid), unit: 'MiB', note: more });
  };
  const idle = await Service.start({ ...options, customerUrl: 'http://127.0.0.1:9' });
  await pause(IDLE_MS);
  note('idle', idle.pid, 'goal: ≤ 150');
  await idle.stop();
  const rig = await Rig.start(options);
  let placed = 0;
  for (const calls of CALLS) {
    await rig.step(RATE, (calls - placed) / RATE);
    placed = calls;
    note(`after ${calls} calls`, rig.service.pid, `at ${RATE}/s`);
  }
  await rig.stop();
  return rows;
}
