/**
 * Runs one attack scenario against a separate service in three phases (quiet, attack, rest) and collects the common
 * figures.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { newPlace, removePlace, Service } from '../e2e/service.ts';
import { HonestPhones, type HonestReport } from './legitimate-clients.ts';
import type { Figure, Scenario } from './scenario.ts';

export interface Plan {
  readonly seconds: number;
  readonly restSeconds: number;
  readonly quick: boolean;
}

const QUIET_SECONDS = 5;
/** RTP ports for a minute of short calls with a reuse delay of 30 s. A scenario may override the range. */
const RTP_PORTS = { CARILLON_RTP_PORT_MIN: '20000', CARILLON_RTP_PORT_MAX: '20999' };
const MEMORY_EVERY_MS = 500;
const SHARE_WANTED = 99;
/** Limit of the 99th percentile of RTP gaps, ms, on an idle machine. Packets arrive every 20 ms. */
const GAP_P99_MS = 60;
/**
 * Delay that the service may add, ms. On a busy machine, packets that do not pass through the service are late too, and the
 * attacker itself uses a core.
 */
const GAP_BEYOND_CONTROL_MS = 40;

export async function fight(scenario: Scenario, plan: Plan): Promise<readonly Figure[]> {
  const place = await newPlace({ ...RTP_PORTS, ...scenario.environment });
  try {
    const service = await Service.start(place);
    try {
      await scenario.prepare?.(service);
      return bounded(await measured(service, scenario, plan), scenario);
    } finally {
      await service.stop();
    }
  } finally {
    removePlace(place);
  }
}

async function measured(
  service: Service,
  scenario: Scenario,
  { seconds, restSeconds, quick }: Plan,
): Promise<readonly Figure[]> {
  const phones = await HonestPhones.open(service);
  try {
    const quiet = await phones.during(pause(QUIET_SECONDS * 1000));
    const before = residentMiB(service);
    let peak = before;
    const watch = setInterval(() => {
      peak = Math.max(peak, residentMiB(service));
    }, MEMORY_EVERY_MS);
    try {
      const over = AbortSignal.timeout(seconds * 1000);
      const attack = scenario.attack({
        service,
        username: phones.username,
        seconds,
        quick,
        over,
      });
      let own: readonly Figure[] = [];
      const under = await phones.during(
        attack.then((figures) => {
          own = figures;
        }),
      );
      await pause(restSeconds * 1000);
      const after = await phones.during(pause(QUIET_SECONDS * 1000));
      return [
        ...own,
        ...figuresOf('under attack', under, quiet),
        ...figuresOf('afterwards', after, quiet),
        { name: 'RTP gap p99 before', value: quiet.gapP99Ms, unit: 'ms' },
        { name: 'RSS before', value: before, unit: 'MiB' },
        { name: 'RSS at the peak', value: peak, unit: 'MiB' },
        { name: `RSS ${restSeconds} s after`, value: residentMiB(service), unit: 'MiB' },
      ];
    } finally {
      clearInterval(watch);
    }
  } finally {
    await phones.close();
  }
}

const figuresOf = (when: string, report: HonestReport, quiet: HonestReport): readonly Figure[] => [
  { name: `legitimate REGISTERs ${when}`, value: report.registers, unit: '' },
  {
    name: `legitimate REGISTERs that succeeded ${when}`,
    value: report.registeredPercent,
    unit: '%',
    atLeast: SHARE_WANTED,
  },
  { name: `legitimate REGISTER p99 ${when}`, value: report.registerP99Ms, unit: 'ms' },
  { name: `legitimate calls ${when}`, value: report.calls, unit: '' },
  {
    name: `legitimate calls that succeeded ${when}`,
    value: report.calledPercent,
    unit: '%',
    atLeast: SHARE_WANTED,
  },
  { name: `legitimate call set-up p99 ${when}`, value: report.setupP99Ms, unit: 'ms' },
  {
    name: `RTP gap p99 ${when}`,
    value: report.gapP99Ms,
    unit: 'ms',
    atMost: Math.max(
      GAP_P99_MS,
      2 * quiet.gapP99Ms,
      report.controlGapP99Ms + GAP_BEYOND_CONTROL_MS,
    ),
  },
  {
    name: `gap p99 ${when} of packets that do not pass through the service`,
    value: report.controlGapP99Ms,
    unit: 'ms',
  },
];

function bounded(figures: readonly Figure[], { bounds = {} }: Scenario): readonly Figure[] {
  return figures.map((figure) => {
    const bound = bounds[figure.name];
    if (bound === undefined) return figure;
    const { name, value, unit } = figure;
    return bound === false ? { name, value, unit } : { name, value, unit, ...bound };
  });
}

/** Resident memory of the service's process, MiB. */
function residentMiB(service: Service): number {
  const status = readFileSync(`/proc/${service.program.child.pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}
