/** `npm run cluster`: runs three nodes behind an edge, and prepares a fourth that may join. Ctrl-C ends it. */
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeUser } from '../e2e/phone.ts';
import { removePlace, type ServicePlace } from '../e2e/service.ts';
import { Front, frontPorts } from './edge-fleet.ts';
import { Fleet, type FleetOptions } from './fleet.ts';
import { type Stage, whatToTry } from './try.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const EDGE = { outside: '127.0.0.1', inside: '127.0.0.2' };
const NODES = 3;

/**
 * Resolves at the end of the run. Ctrl-C reaches all processes of the terminal's group, so the nodes begin to drain;
 * this process then stops them in order. `disconnect` means that the parent process was killed.
 */
const over = Promise.race(
  ['SIGINT', 'SIGTERM', 'SIGHUP', 'disconnect'].map((name) => once(process, name)),
);
const places: ServicePlace[] = [];
let fleet: Fleet | undefined;
let front: Front | undefined;
let isOver = false;
void over.then(() => {
  isOver = true;
});

try {
  await start();
  await over;
} catch (error) {
  if (!isOver) console.error(error);
  process.exitCode = isOver ? 0 : 1;
} finally {
  process.stdout.write('\nending\n');
  for (const place of places) await endStarted(place);
  await front?.stop();
  await fleet?.stop();
  for (const place of places) removePlace(place);
}
process.exit();

async function start(): Promise<void> {
  front = new Front([EDGE], await frontPorts());
  const options: FleetOptions = {
    more: {
      CARILLON_DEMO: 'true',
      CARILLON_SIP_EDGES: EDGE.inside,
      CARILLON_SIP_OUTBOUND_EDGES: `${EDGE.inside}:${front.ports.inside}`,
      CARILLON_SIP_PUBLIC_HOST: EDGE.outside,
    },
  };
  fleet = await Fleet.start(NODES, options);
  places.push(...fleet.nodes.map(({ place }) => place), await fleet.place(NODES, options));
  await front.start(fleet.nodes.map(({ place }) => sipPlace(place)));
  const { demo } = fleet.node(0);
  const application = { answer_url: 'https://demo.invalid/answer' };
  const bob = await makeUser(fleet.node(0), 'bob', application, demo);
  const stage: Stage = {
    inside: process.env['CARILLON_NETNS'],
    edge: EDGE,
    ports: front.ports,
    authorityFile: front.authorityFile,
    nodes: places.map((place, at) => ({
      name: `n${at + 1}`,
      dataDir: place.dataDir,
      sip: sipPlace(place),
      baseUrl: `http://127.0.0.1:${place.environment['CARILLON_HTTP_PORT']}`,
      pid: fleet?.nodes[at]?.service.program.child.pid,
      start: starter(place),
    })),
    demo,
    bob,
    redis: fleet.redis.url,
    postgres: fleet.url,
    scenario: scenarioIn(front.folder),
  };
  if (!isOver) process.stdout.write(whatToTry(stage));
}

function sipPlace({ environment }: ServicePlace): string {
  return `127.0.0.1:${environment['CARILLON_SIP_PORT']}`;
}

/** Writes the tests' SIPp scenario without audio. Returns its path. */
function scenarioIn(folder: string): string {
  const path = join(folder, 'call.xml');
  const text = readFileSync(join(ROOT, 'test/interop/sipp/answered-call.xml'), 'utf8');
  writeFileSync(path, text.replace(/<nop>[\s\S]*?<\/nop>/, ''));
  return path;
}

/** Writes a script that starts the node of this place: a fourth node, or a killed one. Returns its path. */
function starter({ dataDir, environment }: ServicePlace): string {
  const path = join(dataDir, '..', 'start');
  const settings = Object.entries(environment).map(([name, value]) => `${name}='${value}' \\\n`);
  writeFileSync(
    path,
    `#!/bin/sh\ncd '${ROOT}' && exec env ${settings.join('')} '${process.execPath}' src/main.ts\n`,
  );
  chmodSync(path, 0o700);
  return path;
}

/** Stops a node that a user started with its script. */
async function endStarted({ dataDir }: ServicePlace): Promise<void> {
  const file = join(dataDir, 'service.json');
  if (!existsSync(file)) return;
  const { pid } = JSON.parse(readFileSync(file, 'utf8')) as { readonly pid: number };
  const isOurs = fleet?.nodes.some(({ service }) => service.program.child.pid === pid);
  const environment = `/proc/${pid}/environ`;
  if (isOurs || !existsSync(environment)) return;
  if (readFileSync(environment, 'utf8').includes(`CARILLON_DATA_DIR=${dataDir}\0`))
    process.kill(pid, 'SIGKILL');
}
