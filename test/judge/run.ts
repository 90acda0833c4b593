/**
 * `npm run judge [-- --nodes 1|3] [--minutes 10 | --hours 4] [--seed 1] [--out FOLDER]`: clients of all kinds use one node
 * or a cluster while faults are injected. A model that shares no code with the service then decides whether what the
 * clients observed is possible. Writes the history and, for each violation, a shortened one. Exits with 1 on a violation.
 */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Fleet } from '../cluster/fleet.ts';
import { SlowDisk } from '../cluster/slow-disk.ts';
import { eventually, newPlace, removePlace, Service, type ServicePlace } from '../e2e/service.ts';
import { Clients, observeEnd } from './clients.ts';
import type { Observation } from './history.ts';
import { judge, shorten } from './model.ts';

const HOURS_MAX = 100;
const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '10' },
    hours: { type: 'string' },
    seed: { type: 'string', default: '1' },
    out: { type: 'string' },
  },
});
const count = Number(values.nodes);
const minutes = values.hours === undefined ? Number(values.minutes) : Number(values.hours) * 60;
if (![1, 3].includes(count) || !(minutes > 0 && minutes <= HOURS_MAX * 60)) {
  console.error(
    'usage: npm run judge -- [--nodes 1|3] [--minutes 10 | --hours 4] [--seed 1] [--out FOLDER]',
  );
  process.exit(2);
}
const out = values.out ?? mkdtempSync(join(tmpdir(), 'carillon-judge-'));
mkdirSync(out, { recursive: true });

let state = Number(values.seed) >>> 0;
/** A number from 0 up to 1 (mulberry32). */
function random(): number {
  state = (state + 0x6d2b79f5) >>> 0;
  let mixed = Math.imul(state ^ (state >>> 15), state | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}
const between = (least: number, most: number): number => least + random() * (most - least);

const history: Observation[] = [];
const nowMs = (): number => performance.now();
const observe = (observation: Observation): void => void history.push(observation);

/** One node or a cluster, with the faults that it supports. */
interface Target {
  node(at: number): Service;
  restart(at: number): Promise<void>;
  readonly shared: readonly (readonly [name: string, fault: (ms: number) => Promise<void>])[];
  stop(): Promise<void>;
}

async function singleNode(): Promise<Target> {
  const place: ServicePlace = await newPlace({
    CARILLON_CALLS_HEARTBEAT_MS: '200',
    CARILLON_ENDPOINTS_CALLS_PER_MINUTE: '10000',
  });
  let service = await Service.start(place);
  return {
    node: () => service,
    restart: async () => {
      service = await Service.start(place);
    },
    shared: [],
    stop: async () => {
      await service.kill();
      removePlace(place);
    },
  };
}

async function cluster(): Promise<Target> {
  const disk = new SlowDisk();
  const fleet = await Fleet.start(count, {
    postgres: disk.postgres,
    more: { CARILLON_ENDPOINTS_CALLS_PER_MINUTE: '10000' },
  });
  return {
    node: (at) => fleet.node(at),
    restart: (at) => fleet.restart(at),
    shared: [
      [
        'Redis restarts empty',
        async (ms) => {
          await fleet.redis.kill();
          await pause(ms);
          await fleet.redis.start();
        },
      ],
      [
        'PostgreSQL restarts',
        async (ms) => {
          fleet.postgres.stop();
          await pause(ms);
          fleet.postgres.start();
        },
      ],
      [
        'the disk of PostgreSQL is slow',
        async (ms) => {
          disk.isSlow = true;
          await pause(ms);
          disk.isSlow = false;
        },
      ],
    ],
    stop: async () => {
      await fleet.stop();
      disk.remove();
    },
  };
}

const target = count === 1 ? await singleNode() : await cluster();
/** Nodes that are killed or stopped. */
const away = new Set<number>();
const clients = await Clients.start(
  {
    running: () =>
      Array.from({ length: count }, (_, at) => at)
        .filter((at) => !away.has(at))
        .map((at) => ({ at, service: target.node(at) })),
    random,
    observe,
    nowMs,
  },
  target.node(0),
);

async function injected(name: string, act: () => Promise<void>, node?: number): Promise<void> {
  const at = node === undefined ? {} : { node };
  process.stdout.write(`${(nowMs() / 1000).toFixed(0)} s: ${name}\n`);
  observe({ kind: 'fault', atMs: nowMs(), name, ...at });
  await act();
  observe({ kind: 'fault', atMs: nowMs(), name: `end of: ${name}`, ...at });
}

async function killed(at: number): Promise<void> {
  away.add(at);
  await target.node(at).kill();
  await pause(between(500, 8000));
  await target.restart(at);
  away.delete(at);
}

async function stopped(at: number): Promise<void> {
  const { child } = target.node(at).program;
  away.add(at);
  child.kill('SIGSTOP');
  await pause(between(500, 12_000));
  child.kill('SIGCONT');
  away.delete(at);
}

async function oneFault(): Promise<void> {
  const at = Math.floor(random() * count);
  const choice = Math.floor(random() * (2 + target.shared.length));
  if (choice === 0) return injected(`node ${at} is killed`, () => killed(at), at);
  if (choice === 1) return injected(`node ${at} is stopped`, () => stopped(at), at);
  const [name, fault] = target.shared[choice - 2] ?? ['', () => Promise.resolve()];
  return injected(name, () => fault(between(500, 6000)));
}

const untilMs = nowMs() + minutes * 60_000;
await pause(3000);
while (nowMs() < untilMs) {
  // In a cluster, two faults at the same time in one of three rounds.
  const faults = count > 1 && random() < 0.33 ? [oneFault(), oneFault()] : [oneFault()];
  await Promise.allSettled(faults);
  await pause(between(2000, 12_000));
}
await clients.stop();
for (let at = 0; at < count; at += 1)
  await eventually(
    'a ready node',
    async () => (await target.node(at).get('/readyz')).status === 200 || undefined,
    60_000,
  );
await observeEnd(clients, target.node(0), observe);
await clients.close();
await target.stop();

const lines = (observations: readonly Observation[]): string =>
  observations.map((one) => `${JSON.stringify(one)}\n`).join('');
writeFileSync(join(out, 'history.jsonl'), lines(history));
const violations = judge(history);
const numbers = (kind: Observation['kind']): number =>
  history.filter((one) => one.kind === kind).length;
for (const [at, violation] of violations.slice(0, 20).entries()) {
  const shorter = shorten(history, violation);
  writeFileSync(join(out, `violation-${at + 1}.jsonl`), lines(shorter));
  console.log(`✗ ${violation.rule}: ${violation.text} (${shorter.length} observations)`);
}
console.log(
  `${violations.length === 0 ? '✓' : '✗'} ${count} node(s), ${minutes} min, seed ${values.seed}: ` +
    `${numbers('answered')} answered calls, ${numbers('credit')} credits, ${numbers('balance')} reads, ` +
    `${numbers('callback')} callbacks, ${numbers('dialed')} campaign calls, ${numbers('fault') / 2} faults, ` +
    `${violations.length} violations. History: ${out}`,
);
process.exit(violations.length === 0 ? 0 : 1);
