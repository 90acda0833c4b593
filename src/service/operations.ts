/** Implements the operator's requests to the service itself. */

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, wallUs } from '../base/clock.ts';
import { VERSION } from '../config/version.ts';
import type { NewCalls } from '../domain/capacity/capacity.ts';
import type { ConditionName, Peers, Serviceability } from '../domain/cluster/cluster.ts';
import type { Admission, CallBilling } from '../domain/dispatch/dispatch.ts';
import type { LogRing } from '../edge/log/log-ring.ts';
import type { MediaEngine } from '../edge/media/engine.ts';
import type { Metrics } from '../edge/metrics/metrics.ts';
import type { Operations, PartState, RegistrationView, SettingsView } from '../edge/rest/server.ts';
import type { RunningSignalling } from '../edge/sip/signalling.ts';
import { makeFolder, type Store } from '../edge/store/store.ts';
import type { Alarms } from './alarms.ts';
import type { DoctorRun } from './doctor-run.ts';
import { createNodeOperations } from './node-operations.ts';
import type { OverloadWatch } from './overload.ts';
import type { Reloader } from './reload.ts';
import type { StoreWatch } from './store-watch.ts';

export interface OperatedParts {
  readonly store: Store;
  readonly storeWatch: StoreWatch;
  readonly serviceability: Pick<Serviceability, 'conditions'>;
  readonly callBilling: CallBilling;
  readonly signalling: RunningSignalling;
  readonly media: MediaEngine;
  readonly admission: Admission;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly dataDir: string;
  readonly callsLimit: number;
  readonly newCalls: Pick<NewCalls, 'recentPerSecond'>;
  readonly overload: OverloadWatch;
  readonly reload: Operations['reload'];
  readonly alarms: Pick<Alarms, 'active' | 'acknowledge'>;
  /** Settings in force with their sources, and problems of the current file and environment. */
  readonly shownSettings: Reloader['shown'];
  /** Numbers of carriers and rates beyond those of the settings. */
  readonly addedRows: () => Promise<Readonly<Record<'carriers' | 'rates', number>>>;
  readonly doctor: Pick<DoctorRun, 'run' | 'last'>;
  readonly history: Operations['history'];
  readonly self: { readonly id: string };
  readonly peers: Peers | undefined;
  readonly recent: LogRing;
  /** Live nodes; undefined: not known now, or this process is alone. */
  readonly living: () => readonly string[] | undefined;
  /** Time until the lease of this node expires, in ms; undefined without a cluster. */
  readonly leaseMs: () => number | undefined;
  /** Finished recordings that wait for object storage. */
  readonly offloadWaiting: () => number;
}

export function createOperations(parts: OperatedParts): Operations {
  const { store, signalling, admission, metrics } = parts;
  const readiness = () => partStates(parts);
  const status = statusOf(parts, readiness);
  const drain = (): void => {
    admission.drain();
    signalling.drain();
  };
  return {
    readiness,
    registrations: () => registrationsOf(signalling),
    registrationOf: (username) =>
      registrationsOf(signalling).findLast((view) => view.username === username),
    sipPort: () => signalling.port(),
    carriers: () => signalling.carrierStates(),
    status,
    drain,
    ...createNodeOperations({ ...parts, nodeId: parts.self.id, nodes: store.nodes, status, drain }),
    ...createReports(parts),
    metrics: (accept) => metrics.scrape(accept),
    reload: parts.reload,
    ...createRecords(parts),
    ...createBackups(store, parts.dataDir),
  };
}

/** Alarms and unreadable rows, which the database keeps. */
const createRecords = ({ alarms, store }: OperatedParts): Records => ({
  alarms: () => alarms.active(),
  endedAlarms: (filter, slice) => store.alarms.ended(filter, slice),
  acknowledgeAlarm: (alarm, by) => alarms.acknowledge(alarm, by),
  unreadableRows: (slice) => store.unreadableRows.page(slice),
  removeUnreadableRow: (table, key) => store.unreadableRows.remove(table, key),
});

type Records = Pick<
  Operations,
  'alarms' | 'endedAlarms' | 'acknowledgeAlarm' | 'unreadableRows' | 'removeUnreadableRow'
>;

/** What operators read about the settings, the machine and the past. */
const createReports = (parts: OperatedParts): Reports => ({
  settings: () => settingsView(parts),
  runDoctor: () => parts.doctor.run(),
  lastDoctor: () => parts.doctor.last,
  history: parts.history,
});

type Reports = Pick<Operations, 'settings' | 'runDoctor' | 'lastDoctor' | 'history'>;

/** Rows that the console or the API has added count as a source of the two lists. */
async function settingsView({ shownSettings, addedRows }: OperatedParts): Promise<SettingsView> {
  const { settings, problems } = shownSettings();
  const added = await addedRows();
  return {
    problems,
    settings: settings.map((setting) => {
      const count = added[setting.name as keyof typeof added] ?? 0;
      if (count === 0) return setting;
      const file = setting.value === '' ? 'default file' : setting.value;
      return { ...setting, source: 'console', value: `${file}; ${count} added in the console` };
    }),
  };
}

const registrationsOf = (signalling: RunningSignalling): readonly RegistrationView[] =>
  signalling.registrations().map((binding) => ({
    username: binding.username,
    contactUri: binding.contactUri,
    transport: binding.flow.transport,
    address: binding.flow.address,
    port: binding.flow.port,
    userAgent: binding.userAgent,
    expiresUs: binding.expiresUs,
  }));

/** Returns a reader of the service's state, which counts the uptime from now. */
function statusOf(
  { clock, admission, callBilling, callsLimit, newCalls, signalling }: OperatedParts,
  readiness: Operations['readiness'],
): Operations['status'] {
  const startedUs = wallUs(clock);
  const startedMs = clock.monotonicMs();
  return async () => ({
    version: VERSION,
    startedUs,
    uptimeMs: clock.monotonicMs() - startedMs,
    draining: admission.draining,
    callsActive: callBilling.live().length,
    callsLimit,
    callsPerSecond: newCalls.recentPerSecond,
    registrations: signalling.registrations().length,
    parts: await readiness(),
  });
}

/** States of all parts that readiness depends on, and of backlogs and peers. */
async function partStates(parts: OperatedParts): Promise<readonly PartState[]> {
  const { signalling, media, storeWatch, overload, admission } = parts;
  return [
    { part: 'sip', ready: signalling.ready(), detail: signalling.detail },
    mediaState(media),
    await storeWatch.state(),
    { part: 'load', ready: !overload.overloaded, detail: overload.detail() },
    ...conditionStates(parts),
    ...sharedStates(parts),
    {
      part: 'admission',
      ready: !admission.draining && admission.problem === undefined,
      detail: admission.draining ? 'draining' : (admission.problem ?? 'open'),
    },
  ];
}

/** Conditions except that of the store, which `storeWatch` reports. */
function conditionStates({ serviceability, leaseMs }: OperatedParts): readonly PartState[] {
  const causes = new Map(serviceability.conditions.map((one) => [one.condition, one.cause]));
  const shared: readonly ConditionName[] = leaseMs() === undefined ? [] : ['redis', 'fenced'];
  return (['descriptors', ...shared] as const).map((part) => ({
    part,
    ready: !causes.has(part),
    detail: causes.get(part) ?? 'ok',
  }));
}

/** Backlogs and peers. They do not prevent calls: `carillon doctor` and alarms report them. */
function sharedStates({ store, offloadWaiting, living }: OperatedParts): readonly PartState[] {
  const state = (part: string, count: number, what: string): PartState => ({
    part,
    ready: true,
    detail: `${count} ${what}`,
    count,
  });
  const nodes = living();
  return [
    state('spool', store.spooled(), 'records and notifications wait for the database'),
    state('objects', offloadWaiting(), 'recordings wait for object storage'),
    ...(nodes === undefined ? [] : [state('peers', nodes.length, 'nodes of the cluster live')]),
  ];
}

function createBackups(
  store: Pick<Store, 'backup' | 'file'>,
  dataDir: string,
): Pick<Operations, 'backup' | 'backupProgress'> {
  const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  let writing: string | undefined;
  return {
    async backup(name) {
      const folder = join(dataDir, 'backups');
      makeFolder(folder);
      const path = join(folder, name);
      writing = path;
      try {
        await store.backup(path);
      } finally {
        if (writing === path) writing = undefined;
      }
      return { path, bytes: sizeOf(path) };
    },
    backupProgress: () =>
      writing === undefined
        ? undefined
        : { bytes: sizeOf(writing), totalBytes: sizeOf(store.file) },
  };
}

const threadsOf = (count: number): string =>
  count === 1 ? 'media thread' : `${count} media threads`;

function mediaState(media: MediaEngine): PartState {
  const { ready, legs, portsFree, threads } = media.status();
  const busy = threads.map((thread) => `${Math.round(thread.busy * 100)} %`).join(', ');
  const { scheduling = 'none', ioUring = false } = threads[0] ?? {};
  const detail = `${legs} legs, ${portsFree} ports free, ${threadsOf(threads.length)} ${busy} busy, scheduling ${scheduling}, ${ioUring ? 'io_uring' : 'a system call a packet'}`;
  return { part: 'media', ready, detail };
}
