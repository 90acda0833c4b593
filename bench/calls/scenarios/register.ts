/** Phones that register and refresh: how many a second one core takes, and what 100,000 bindings hold in memory. */
import { setTimeout as pause } from 'node:timers/promises';
import { isQuick, type Row } from '../../row.ts';
import { cpuOf, rssMib } from '../accounting.ts';
import { type Registered, RegisterPhones } from '../register-phones.ts';
import type { RigOptions } from '../rig.ts';
import { Service, SIP_PORT } from '../service.ts';

const CONTACTS = 5;
const BINDINGS = isQuick ? 5000 : 100_000;
const REFRESHES = isQuick ? 5000 : 50_000;

/** Answered transactions are kept for 32 s; then the heap is compacted. */
const SETTLE_MS = isQuick ? 1000 : 95_000;

const failures = ({ failed, reasons }: Registered): string =>
  failed === 0 ? 'none failed' : `${failed} failed (${[...reasons].flat().join(' ')})`;

export async function registerRows(title: string, options: RigOptions): Promise<readonly Row[]> {
  const service = await Service.start({ ...options, customerUrl: 'http://127.0.0.1:9' });
  try {
    const logins = await service.createEndpoints(BINDINGS / CONTACTS);
    const before = rssMib(service.pid);
    const phones = await RegisterPhones.start(SIP_PORT, logins, CONTACTS);
    const first = await phones.register(BINDINGS);
    const spent = cpuOf(service.pid).ms;
    const refreshed = await phones.register(REFRESHES);
    const ms = (cpuOf(service.pid).ms - spent) / REFRESHES;
    phones.stop();
    await pause(SETTLE_MS);
    const full = rssMib(service.pid);
    const { delaysMs, seconds, count } = refreshed;
    const p99 = delaysMs[Math.floor(delaysMs.length * 0.99)] ?? Number.NaN;
    return [
      {
        name: `${title}: refreshes with digest`,
        value: count / seconds,
        unit: 'a second',
        note: `goal: ≥ 5,000; p99 ${p99.toFixed(1)} ms, 64 concurrent, ${failures(refreshed)}, ${ms.toFixed(3)} ms of CPU each`,
      },
      {
        name: `${title}: RSS with ${BINDINGS} bindings, ${SETTLE_MS / 1000} s later`,
        value: full,
        unit: 'MiB',
        note: `goal: ≤ 300 with 100,000; ${Math.round(before)} before, with ${logins.length} endpoints; first ones: ${failures(first)}, ${Math.round(first.count / first.seconds)} a second`,
      },
    ];
  } finally {
    await service.stop();
  }
}
