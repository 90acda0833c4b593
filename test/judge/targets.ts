/** What a judged run uses: one node or a cluster, and the faults that it supports. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Fleet } from '../cluster/fleet.ts';
import { SlowDisk } from '../cluster/slow-disk.ts';
import { buildWriteLog, powerLossMissing } from '../crash/power-loss.ts';
import { type Environment, newPlace, removePlace, Service } from '../e2e/service.ts';
import { Link, type Weather } from './link.ts';

export interface Fault {
  readonly name: string;
  /** Longest duration, ms. */
  readonly mostMs: number;
  /** Node that it concerns, if it is a single one. */
  readonly node?: number;
  /** True if the node neither reaches PostgreSQL nor Redis, so that it may be declared dead. */
  readonly isolates?: boolean;
  /** What it prevents or ends, for the rules of the model. */
  readonly effect?: 'kill' | 'disk' | 'store';
  begin(): Promise<void> | void;
  end(): Promise<void> | void;
}

export interface Target {
  readonly count: number;
  node(at: number): Service;
  restart(at: number): Promise<void>;
  /** Faults other than a killed or stopped node. */
  readonly faults: readonly Fault[];
  stop(): Promise<void>;
}

const WRONG_CLOCK = fileURLToPath(new URL('../cluster/wrong-clock.mjs', import.meta.url));
const PARTITION_MS = 9000;
const END_ATTEMPTS = 5;
const END_AGAIN_MS = 1000;
/** Largest clock change in ms: of a single node, and of a node whose clock other nodes see. */
const CLOCK_MS = { single: 300_000, cluster: 2000 } as const;

/** Files that control the faults of one node from outside. */
class NodeFaults {
  readonly #folder = mkdtempSync(join(tmpdir(), 'carillon-faults-'));
  readonly #disk = join(this.#folder, 'disk');
  readonly #clock = join(this.#folder, 'clock');
  readonly environment: Environment;

  /** `library` injects faults into the files of the node; undefined without a C compiler. */
  constructor(library: string | undefined) {
    writeFileSync(this.#clock, '0');
    this.environment = {
      CARILLON_ENDPOINTS_CALLS_PER_MINUTE: '10000',
      NODE_OPTIONS: `--import=${WRONG_CLOCK}`,
      WRONG_CLOCK_FILE: this.#clock,
      ...(library && {
        LD_PRELOAD: library,
        WRITE_LOG_FOLDER: join(tmpdir(), 'carillon-e2e-'),
        FAIL_FILE: this.#disk,
      }),
    };
  }

  /** Faults of node `at`. */
  list(at: number, random: () => number, clockMs: number): readonly Fault[] {
    const disk = (name: string, kind: string): Fault => ({
      name: `node ${at}: ${name}`,
      node: at,
      effect: 'disk',
      mostMs: 8000,
      begin: () => writeFileSync(this.#disk, kind),
      end: () => rmSync(this.#disk, { force: true }),
    });
    const clock: Fault = {
      name: `node ${at}: the clock jumps`,
      node: at,
      mostMs: 8000,
      begin: () => writeFileSync(this.#clock, String(Math.round((2 * random() - 1) * clockMs))),
      end: () => writeFileSync(this.#clock, '0'),
    };
    const disks = [
      disk('the disk is slow', 'slow'),
      disk('the disk is full', 'ENOSPC'),
      disk('the disk has I/O errors', 'EIO'),
    ];
    return this.environment['LD_PRELOAD'] === undefined ? [clock] : [clock, ...disks];
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Builds the library that disturbs disks, in a separate folder. */
function diskFaults(): { readonly library: string | undefined; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-shim-'));
  const library = powerLossMissing === undefined ? buildWriteLog(folder) : undefined;
  return { library, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export async function singleNode(random: () => number): Promise<Target> {
  const shim = diskFaults();
  const faults = new NodeFaults(shim.library);
  const place = await newPlace({ CARILLON_CALLS_HEARTBEAT_MS: '200', ...faults.environment });
  let service = await Service.start(place);
  return {
    count: 1,
    node: () => service,
    restart: async () => {
      service = await Service.start(place);
    },
    faults: faults.list(0, random, CLOCK_MS.single),
    stop: async () => {
      await service.kill();
      removePlace(place);
      faults.remove();
      shim.remove();
    },
  };
}

interface Links {
  readonly postgres: Link;
  readonly redis: Link;
}

export async function cluster(count: number, random: () => number): Promise<Target> {
  const shim = diskFaults();
  const disk = new SlowDisk();
  const own = Array.from({ length: count }, () => new NodeFaults(shim.library));
  const links: readonly Links[] = await Promise.all(
    own.map(async () => ({ postgres: await Link.open(random), redis: await Link.open(random) })),
  );
  const fleet = await Fleet.start(count, {
    postgres: disk.postgres,
    each: (at, { postgres, redis }) => {
      const link = links[at];
      if (link === undefined) throw new RangeError(`there is no node ${at}`);
      link.postgres.to = { path: postgres.socket };
      link.redis.to = { host: '127.0.0.1', port: Number(new URL(redis.url).port) };
      return {
        CARILLON_STORE_URL: `postgres://carillon@127.0.0.1:${link.postgres.port}/fleet`,
        CARILLON_CLUSTER_REDIS: `redis://127.0.0.1:${link.redis.port}`,
        ...own[at]?.environment,
      };
    },
  });
  const nodeFaults = own.flatMap((one, at) => one.list(at, random, CLOCK_MS.cluster));
  return {
    count,
    node: (at) => fleet.node(at),
    restart: (at) => fleet.restart(at),
    faults: [
      ...serverFaults(fleet, disk),
      ...links.flatMap(partitions),
      bridge(links),
      ...nodeFaults,
    ],
    stop: async () => {
      await fleet.stop();
      disk.remove();
      shim.remove();
      for (const one of own) one.remove();
      for (const { postgres, redis } of links) {
        postgres.close();
        redis.close();
      }
    },
  };
}

const serverFaults = (fleet: Fleet, disk: SlowDisk): readonly Fault[] => [
  {
    name: 'Redis restarts empty',
    mostMs: 6000,
    begin: () => fleet.redis.kill(),
    end: () => fleet.redis.start(),
  },
  {
    // Longer than the leases of slots.
    name: 'Redis refuses writes',
    mostMs: 20_000,
    begin: () => fleet.redis.refuseWrites(true),
    end: () => fleet.redis.refuseWrites(false),
  },
  {
    name: 'PostgreSQL restarts',
    effect: 'store',
    mostMs: 6000,
    begin: () => fleet.postgres.stop(),
    end: () => fleet.postgres.start(),
  },
  {
    name: 'the disk of PostgreSQL is slow',
    effect: 'store',
    mostMs: 6000,
    begin: () => {
      disk.isSlow = true;
    },
    end: () => {
      disk.isSlow = false;
    },
  },
];

const HEALED: Weather = { isSendingCut: false, isReceivingCut: false, isLossy: false };
const CUT = { isSendingCut: true, isReceivingCut: true };

/** Partitions of one node from the servers through which it reaches the others. */
function partitions({ postgres, redis }: Links, at: number): readonly Fault[] {
  const on = (name: string, all: readonly Link[], weather: Partial<Weather>): Fault => ({
    name: `node ${at}: ${name}`,
    node: at,
    isolates: all.length === 2 && weather.isLossy === undefined,
    ...(all.includes(postgres) && { effect: 'store' as const }),
    mostMs: PARTITION_MS,
    begin: () => {
      for (const link of all) link.set(weather);
    },
    end: () => {
      for (const link of all) link.set(HEALED);
    },
  });
  const both = [postgres, redis];
  return [
    on('cut off', both, CUT),
    on('cut off from Redis', [redis], CUT),
    on('cut off from PostgreSQL', [postgres], CUT),
    on('cannot send', both, { isSendingCut: true }),
    on('cannot receive', both, { isReceivingCut: true }),
    on('loses packets', both, { isLossy: true }),
  ];
}

/** Node 1 reaches both servers, node 0 only PostgreSQL, and the others only Redis. */
const bridge = (links: readonly Links[]): Fault => ({
  name: 'bridge: only node 1 reaches both servers',
  effect: 'store',
  mostMs: PARTITION_MS,
  begin: () => {
    for (const [at, { postgres, redis }] of links.entries()) {
      if (at === 0) redis.set(CUT);
      else if (at > 1) postgres.set(CUT);
    }
  },
  end: () => {
    for (const { postgres, redis } of links) {
      postgres.set(HEALED);
      redis.set(HEALED);
    }
  },
});

/** Runs the fault for up to its longest time. */
export async function during(fault: Fault, random: () => number): Promise<void> {
  await fault.begin();
  try {
    await pause(500 + random() * (fault.mostMs - 500));
  } finally {
    await ended(fault);
  }
}

/** Ends the fault. A node or server may not start on a busy machine, and the run needs it again. */
async function ended(fault: Fault): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await fault.end();
    } catch (error) {
      console.error(String(error).slice(-1500));
      if (attempt === END_ATTEMPTS) throw error;
      await pause(END_AGAIN_MS);
    }
  }
}
