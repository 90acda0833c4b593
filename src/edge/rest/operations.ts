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
  /** Returns the active alarms of all live nodes, oldest first. */
  alarms(): Promise<readonly AlarmView[]>;
  /** Returns ended alarms of all nodes, latest first. */
  endedAlarms(
    filter: { readonly kind?: string | undefined; readonly search?: string | undefined },
    slice: Slice,
  ): Promise<Page<AlarmView>>;
  /** Stores that the user `by` knows of an active alarm. Returns false if it is not active. Without a node: on all nodes. */
  acknowledgeAlarm(
    alarm: { readonly kind: string; readonly subject: string; readonly nodeId?: string },
    by: string,
  ): Promise<boolean>;
  /** Returns the settings in force with their sources, and the problems of the current file and environment. */
  settings(): Promise<SettingsView>;
  /** Runs `carillon doctor` on this node. The error is a sentence. */
  runDoctor(): Promise<Result<DoctorReport, string>>;
  /** Returns the last doctor report since the start of this node. */
  lastDoctor(): DoctorReport | undefined;
  /** Returns the latest log lines of a node (default: this one). Undefined: no live node has the ID. */
  log(query: LogQuery, node?: string): Promise<LogView | undefined>;
  /** Whether a Prometheus server is configured, and the history that it has. The error is a sentence. */
  history: {
    readonly isAvailable: boolean;
    read(period: HistoryPeriod): Promise<Result<MetricsHistory, string>>;
  };
  /** Returns the live nodes that share the database. */
  nodes(): Promise<readonly NodeView[]>;
  /** Makes a node refuse new calls. Returns false if no live node has the ID. */
  drainNode(node: string): Promise<boolean>;
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
  readonly nodeId: string;
  readonly kind: string;
  /** Name of a carrier, ID of an account, or a path; empty for the node. */
  readonly subject: string;
  readonly detail: string;
  readonly sinceUs: number;
  readonly clearedUs: number | undefined;
  readonly acknowledgedUs: number | undefined;
  readonly acknowledgedBy: string | undefined;
}

export interface SettingsView {
  readonly settings: readonly {
    readonly name: string;
    readonly description: string;
    /** Value in force, with secrets masked. */
    readonly value: string;
    readonly defaultValue: string;
    readonly source: 'default' | 'file' | 'environment' | 'console';
    readonly place: string;
    readonly isSecret: boolean;
    readonly isLive: boolean;
    readonly nextValue: string | undefined;
  }[];
  readonly problems: readonly string[];
}

export type HistoryPeriod = '6h' | '24h' | '7d' | '30d';

interface HistoryPoint {
  /** Seconds since 1970 UTC. */
  readonly atS: number;
  readonly value: number;
}

/** Running calls, and new calls per second, of all nodes. */
export interface MetricsHistory {
  readonly stepS: number;
  readonly calls: readonly HistoryPoint[];
  readonly rate: readonly HistoryPoint[];
}

export interface DoctorReport {
  readonly finishedUs: number;
  readonly findings: readonly {
    readonly check: string;
    readonly verdict: 'ok' | 'warning' | 'problem' | 'skipped';
    readonly found: string;
    readonly advice?: string;
  }[];
}

export interface LogQuery {
  readonly level?: 'debug' | 'info' | 'warn' | 'error' | undefined;
  readonly callUuid?: string | undefined;
  readonly search?: string | undefined;
  readonly after?: number | undefined;
  readonly limit: number;
}

export interface LogView {
  readonly node: string;
  readonly lines: readonly {
    readonly number: number;
    readonly time: string;
    readonly level: string;
    readonly message: string;
    readonly callUuid: string | undefined;
    readonly fields: string;
  }[];
}

export interface NodeView {
  readonly id: string;
  readonly epoch: number;
  /** Whether this node answers the request. */
  readonly isSelf: boolean;
  readonly begunUs: number;
  /** Undefined: the node does not answer. */
  readonly status: ServiceStatus | undefined;
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

export interface ServiceStatus {
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
