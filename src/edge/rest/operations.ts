import type { Page, Slice } from '../../base/page.ts';
import type { Result } from '../../base/result.ts';

/** Operator functions of the running service. */
export interface Operations {
  /** Returns the state of each required part. The service is ready when all are up. */
  readiness(): Promise<readonly PartState[]>;
  status(): Promise<ServiceStatus>;
  registrations(): readonly RegistrationView[];
  /** Returns the most recently registered contact of the endpoint. */
  registrationOf(username: string): RegistrationView | undefined;
  /** Returns the port of the SIP listeners. */
  sipPort(): number;
  /** Returns the state of monitored carriers. */
  carriers(): readonly CarrierView[];
  /** Refuses new calls from now on; running calls continue. */
  drain(): void;
  /** Returns Prometheus text, or OpenMetrics if the Accept header requests it. */
  metrics(accept: string): Promise<{ readonly contentType: string; readonly text: string }>;
  /** Returns the active alarms, oldest first. */
  alarms(): readonly ActiveAlarmView[];
  /** Returns the alarms that ended since the start of the service, latest first. */
  endedAlarms(): readonly (AlarmView & { readonly clearedUs: number })[];
  /** Marks an active alarm as known to the user `by`. Returns false if it is not active. */
  acknowledgeAlarm(alarm: { readonly kind: string; readonly subject: string }, by: string): boolean;
  /** Returns the rows of the database that could not be read, latest first. */
  unreadableRows(slice: Slice): Promise<Page<UnreadableRowView>>;
  /** Removes a record of an unreadable row; returns false if it does not exist. */
  removeUnreadableRow(table: string, key: string): Promise<boolean>;
  /** Applies changed settings. A refusal lists every problem, and no setting has changed. */
  reload(): Promise<Result<Reloaded, readonly string[]>>;
  /** Writes a consistent copy of the database into the backups folder of the data folder. `name` is a plain file name. */
  backup(name: string): Promise<{ readonly path: string; readonly bytes: number }>;
  /** Returns the progress of the current backup, or undefined if none is running. */
  backupProgress(): Progress | undefined;
}

interface UnreadableRowView {
  readonly table: string;
  readonly key: string;
  readonly reason: string;
  /** JSON of the row's columns as stored. */
  readonly original: string;
  readonly foundUs: number;
}

/** Names of the settings that changed, and of those that need a restart. */
interface Reloaded {
  readonly changed: readonly string[];
  readonly needsRestart: readonly string[];
  readonly rates: number;
  readonly carriers: number;
}

interface CarrierView {
  readonly name: string;
  /** Whether the carrier answers OPTIONS; undefined if it is not probed. */
  readonly reachable: boolean | undefined;
  /** Whether the service is registered with the carrier; undefined if it does not register. */
  readonly registered: boolean | undefined;
}

interface AlarmView {
  readonly kind: string;
  /** Name of a carrier, ID of an account, or a path; empty for the node. */
  readonly subject: string;
  readonly detail: string;
  readonly sinceUs: number;
}

interface ActiveAlarmView extends AlarmView {
  readonly acknowledged: { readonly atUs: number; readonly by: string } | undefined;
}

/** Bytes written, and an estimate of the total; the copy may end up smaller than its source. */
interface Progress {
  readonly bytes: number;
  readonly totalBytes: number;
}

export interface PartState {
  readonly part: string;
  readonly ready: boolean;
  readonly detail: string;
  /** Number that the detail states: waiting units, waiting recordings or living nodes. */
  readonly count?: number;
}

interface ServiceStatus {
  readonly version: string;
  readonly startedUs: number;
  readonly uptimeMs: number;
  readonly draining: boolean;
  readonly callsActive: number;
  readonly callsLimit: number;
  /** Mean rate of new calls in the last ten seconds. */
  readonly callsPerSecond: number;
  readonly registrations: number;
  readonly parts: readonly PartState[];
}

export interface RegistrationView {
  readonly username: string;
  readonly contactUri: string;
  readonly transport: string;
  readonly address: string;
  readonly port: number;
  readonly userAgent: string;
  readonly expiresUs: number;
}
