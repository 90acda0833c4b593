/**
 * `npm run judge [-- --nodes 1|3] [--minutes 10 | --hours 4] [--seed 1] [--out FOLDER]`: clients of all kinds use one node
 * or a cluster while faults are injected. A model that shares no code with the service then decides whether what the
 * clients observed is possible. Writes the history and, for each violation, a shortened one. Exits with 1 on a violation.
 * `--parallel 4 --nodes 1,3` starts several runs with consecutive seeds and with these numbers of nodes in turn.
 * `--faults TEXT` injects only faults with TEXT in their name.
 */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { eventually, type Service } from '../e2e/service.ts';
import { Clients } from './clients.ts';
import { observeEnd } from './end.ts';
import type { Observation } from './history.ts';
import { judge } from './model.ts';
import { inParallel, type Summary, textOf } from './parallel.ts';
import { shorten } from './shorten.ts';
import { cluster, during, type Fault, singleNode } from './targets.ts';

const HOURS_MAX = 100;
const PARALLEL_MAX = 100;
const DELIVERY_MS = 2000;
/** Longest time in ms for the clients to finish their requests and calls. */
const CLIENTS_END_MS = 180_000;
const PROBE_MS = 200;
/** Delay in ms from which the machine counts as busy. */
const LATE_MS = 300;
const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '10' },
    hours: { type: 'string' },
    seed: { type: 'string', default: '1' },
    parallel: { type: 'string', default: '1' },
    out: { type: 'string' },
    faults: { type: 'string', default: '' },
  },
});
const nodes = values.nodes.split(',').map(Number);
const [count = 1] = nodes;
const parallel = Number(values.parallel);
const seed = Number(values.seed);
const minutes = values.hours === undefined ? Number(values.minutes) : Number(values.hours) * 60;
if (
  !nodes.every((one) => one === 1 || one === 3) ||
  !(minutes > 0 && minutes <= HOURS_MAX * 60) ||
  !(Number.isSafeInteger(parallel) && parallel > 0 && parallel <= PARALLEL_MAX) ||
  (parallel === 1 && nodes.length > 1) ||
  !Number.isSafeInteger(seed)
) {
  console.error(
    'usage: npm run judge -- [--nodes 1|3] [--minutes 10 | --hours 4] [--seed 1] [--out FOLDER] ' +
      '[--parallel 4 [--nodes 1,3]] [--faults TEXT]',
  );
  process.exit(2);
}
const out = values.out ?? mkdtempSync(join(tmpdir(), 'carillon-judge-'));
mkdirSync(out, { recursive: true });
if (parallel > 1)
  process.exit(
    (await inParallel({ count: parallel, nodes, minutes, seed, out, faults: values.faults }))
      ? 0
      : 1,
  );

let state = seed >>> 0;
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

const everyNode = Array.from({ length: count }, (_, at) => at);
const target = count === 1 ? await singleNode(random) : await cluster(count, random);
/** Nodes that are killed or stopped. */
const away = new Set<number>();
const running = (): readonly { readonly at: number; readonly service: Service }[] =>
  everyNode.filter((at) => !away.has(at)).map((at) => ({ at, service: target.node(at) }));
const clients = await Clients.start(
  {
    running,
    nodeAt: (sipPort) => everyNode.find((at) => target.node(at).sipPort === sipPort),
    random,
    observe,
    nowMs,
    minutes,
  },
  target.node(0),
);

/** Nodes with a fault. A node has one fault at a time. */
const disturbed = new Set<number>();
/** Time at which the latest fault of a node began, ms. */
let disturbedMs = 0;

async function injected(fault: Fault): Promise<void> {
  const { name, node, isolates, effect } = fault;
  const of = { ...(node !== undefined && { node }), ...(effect && { effect }) };
  if (node !== undefined) {
    disturbed.add(node);
    disturbedMs = nowMs();
  }
  process.stdout.write(`${(nowMs() / 1000).toFixed(0)} s: ${name}\n`);
  const at = history.length;
  const begin: Observation = { kind: 'fault', atMs: nowMs(), name, ...of };
  observe(begin);
  await during(fault, random);
  // The recovered connections need a moment to deliver what waited.
  if (isolates) history[at] = { ...begin, isolatedUntilMs: nowMs() + DELIVERY_MS };
  // The end of a kill is the start of another process.
  const { effect: _, ...restarted } = of;
  const after = effect === 'kill' ? restarted : of;
  observe({ kind: 'fault', atMs: nowMs(), name: `end of: ${name}`, ...after });
  if (node !== undefined) disturbed.delete(node);
}

/** Kills the node, and starts it when it can: it needs its disk and its servers. */
const killed = (at: number): Fault => ({
  name: `node ${at} is killed`,
  node: at,
  effect: 'kill',
  mostMs: 8000,
  begin: async () => {
    away.add(at);
    await target.node(at).kill();
  },
  end: async () => {
    await target.restart(at);
    away.delete(at);
  },
});

const stopped = (at: number): Fault => ({
  name: `node ${at} is stopped`,
  node: at,
  isolates: true,
  mostMs: 12_000,
  begin: () => {
    away.add(at);
    target.node(at).program.child.kill('SIGSTOP');
  },
  end: () => {
    target.node(at).program.child.kill('SIGCONT');
    away.delete(at);
  },
});

/** Faults by kind. Each kind is equally likely. */
const kinds = [everyNode.map(killed), everyNode.map(stopped), target.faults]
  .map((kind) => kind.filter(({ name }) => name.includes(values.faults)))
  .filter((kind) => kind.length > 0);
if (kinds.length === 0) {
  console.error(`no fault has '${values.faults}' in its name`);
  await clients.close();
  await target.stop();
  process.exit(2);
}

async function oneFault(): Promise<void> {
  const all = kinds[Math.floor(random() * kinds.length)] ?? [];
  const possible = all.filter(({ node }) => node === undefined || !disturbed.has(node));
  const fault = possible[Math.floor(random() * possible.length)];
  if (fault !== undefined) await injected(fault);
}

/** Records how busy the machine is: the delay of a timer, and of a request without work to each running node. */
async function watchLateness(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const atMs = nowMs();
    await pause(PROBE_MS);
    const byMs = nowMs() - atMs - PROBE_MS;
    if (byMs > LATE_MS) observe({ kind: 'late', atMs, byMs });
  }
}

async function probe(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const atMs = nowMs();
    const nodes = running();
    await Promise.allSettled(nodes.map(({ service }) => service.get('/healthz')));
    // A node that was stopped or killed during the requests was busy at most until then.
    const isSame = running().length === nodes.length && nodes.every(({ at }) => !disturbed.has(at));
    const byMs = (isSame ? nowMs() : Math.min(nowMs(), disturbedMs)) - atMs;
    if (byMs > LATE_MS) observe({ kind: 'late', atMs, byMs });
    await pause(PROBE_MS);
  }
}

const probing = new AbortController();
void watchLateness(probing.signal);
void probe(probing.signal);
const startedMs = nowMs();
const untilMs = startedMs + minutes * 60_000;
await pause(3000);
while (nowMs() < untilMs) {
  // In a cluster, two faults at the same time in one of three rounds.
  const faults = count > 1 && random() < 0.33 ? [oneFault(), oneFault()] : [oneFault()];
  for (const outcome of await Promise.allSettled(faults))
    if (outcome.status === 'rejected') console.error(String(outcome.reason).slice(0, 2000));
  await pause(between(2000, 12_000));
}
probing.abort();
const isEnded = await Promise.race([
  clients.stop().then(() => true),
  pause(CLIENTS_END_MS, false, { ref: false }),
]);
if (!isEnded) {
  const silent = await Promise.all(
    running().map(({ at, service }) =>
      Promise.race([service.get('/healthz').then(() => ''), pause(PROBE_MS * 10, ` ${at}`)]),
    ),
  );
  console.error(`✗ the clients wait for responses; nodes that do not respond:${silent.join('')}`);
  process.exit(1);
}
for (let at = 0; at < count; at += 1)
  await eventually(
    'a ready node',
    async () => (await target.node(at).get('/readyz')).status === 200 || undefined,
    60_000,
  );
await observeEnd(clients, target.node(0), observe);
const measuredMs = nowMs() - startedMs;
await clients.close();
// The history is complete: a server that does not stop must not lose it.
await target.stop().catch((error: unknown) => console.error(String(error).slice(0, 2000)));

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
const summary: Summary = {
  nodes: count,
  seed,
  minutes: measuredMs / 60_000,
  faults: numbers('fault') / 2,
  calls: numbers('answered'),
  late: numbers('late'),
  violations: violations.length,
};
writeFileSync(join(out, 'summary.json'), JSON.stringify(summary));
console.log(
  `${textOf(summary)}, ${numbers('credit')} credits, ${numbers('balance')} reads, ` +
    `${numbers('callback')} callbacks, ${numbers('dialed')} campaign calls. History: ${out}`,
);
process.exit(violations.length === 0 ? 0 : 1);
