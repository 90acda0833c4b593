/** CPU use of a service without calls, and wake-ups per thread. Uses free ports and a temporary data folder. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { newPlace, removePlace, Service } from '../test/e2e/service.ts';
import { isQuick, most, type Row } from './row.ts';

/** Time after which the work of a start has finished, including the first return of memory to the system. */
const SETTLED_S = isQuick ? 2 : 80;
const WATCHED_S = isQuick ? 5 : 60;

interface Thread {
  readonly name: string;
  readonly cpuNs: number;
  readonly wakes: number;
}

export async function run(): Promise<Row[]> {
  const place = await newPlace();
  const service = await Service.start(place);
  try {
    await pause(SETTLED_S * 1000);
    const before = threads(service.program.child.pid ?? 0);
    await pause(WATCHED_S * 1000);
    const spent = [...threads(service.program.child.pid ?? 0)].map(
      ([id, { name, cpuNs, wakes }]) => {
        const first = before.get(id);
        return {
          name,
          cpuMs: (cpuNs - (first?.cpuNs ?? 0)) / 1e6,
          wakes: wakes - (first?.wakes ?? 0),
        };
      },
    );
    const cpuMs = spent.reduce((sum, thread) => sum + thread.cpuMs, 0);
    const wakes = spent.reduce((sum, thread) => sum + thread.wakes, 0);
    const named = spent
      .filter((thread) => thread.wakes > 0)
      .map(({ name, cpuMs: ms, wakes: n }) => `${name} ${ms.toFixed(0)} ms, ${n}`);
    return [
      {
        name: 'idle service',
        value: Math.round((cpuMs / WATCHED_S) * 10) / 100,
        unit: '% of a core',
        goal: most(0.3),
        note: `over ${WATCHED_S} s`,
      },
      {
        name: 'idle service, wake-ups of all threads',
        value: Math.round((wakes / WATCHED_S) * 10) / 10,
        unit: 'a second',
        note: named.join('; '),
      },
    ];
  } finally {
    await service.kill();
    removePlace(place);
  }
}

function threads(pid: number): ReadonlyMap<string, Thread> {
  const tasks = `/proc/${pid}/task`;
  return new Map(
    readdirSync(tasks).map((id) => {
      const file = (name: string): string => readFileSync(`${tasks}/${id}/${name}`, 'utf8');
      const wakes = /^voluntary_ctxt_switches:\s*(\d+)/m.exec(file('status'))?.[1];
      const cpuNs = Number(file('schedstat').split(' ')[0]);
      return [id, { name: file('comm').trim(), cpuNs, wakes: Number(wakes) }];
    }),
  );
}
