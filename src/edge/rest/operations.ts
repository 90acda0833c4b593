import type { Page, Slice } from '../../base/page.ts';
import type { Result } from '../../base/result.ts';

/** What the operator asks of the running service itself. Implemented where everything is joined. */
export interface Operations {
  /** One entry per part that must be up; the service is ready when all are. */
  readiness(): Promise<readonly PartState[]>;
  status(): Promise<ServiceStatus>;
  registrations(): readonly RegistrationView[];
  /** A live contact of the endpoint, the one registered last. */
  registrationOf(username: string): RegistrationView | undefined;
  /** Of the SIP listeners. */
  sipPort(): number;
  /** How those are that are watched. */
  carriers(): readonly CarrierView[];
  /** No new calls from now on; running ones go on. */
  drain(): void;
  /** Prometheus text, or OpenMetrics where the header Accept asks for it. */
  metrics(accept: string): Promise<{ readonly contentType: string; readonly text: string }>;
  /** What is wrong now, oldest first. */
  alarms(): readonly AlarmView[];
  /** Rows of the database that could not be read, latest first. */
  unreadableRows(slice: Slice): Promise<Page<UnreadableRowView>>;
  /** Removes one record of that list; false if there is none. */
  removeUnreadableRow(table: string, key: string): Promise<boolean>;
  /** Takes over new settings; the refusal holds every problem, and nothing has changed then. */
  reload(): Promise<Result<Reloaded, readonly string[]>>;
  /** Consistent copy of the database under a plain file name in the backups folder of the data folder. */
  backup(name: string): Promise<{ readonly path: string; readonly bytes: number }>;
  /** How far the copy that is being written has come; undefined: none is. */
  backupProgress(): Progress | undefined;
}

export interface UnreadableRowView {
  readonly table: string;
  readonly key: string;
  readonly reason: string;
  /** JSON of the row's columns as they are stored. */
  readonly original: string;
  readonly foundUs: number;
}

/** Which settings changed, and which will with the next start. */
export interface Reloaded {
  readonly changed: readonly string[];
  readonly needsRestart: readonly string[];
  readonly rates: number;
  readonly carriers: number;
}

export interface CarrierView {
  readonly name: string;
  /** Answers OPTIONS; undefined: not asked. */
  readonly reachable: boolean | undefined;
  /** Undefined: we do not register with it. */
  readonly registered: boolean | undefined;
}

export interface AlarmView {
  readonly kind: string;
  /** A carrier's name, an account's id, a path; empty: the node. */
  readonly subject: string;
  readonly detail: string;
  readonly sinceUs: number;
}

/** Bytes written of about as many; the copy may end up smaller than what it is of. */
export interface Progress {
  readonly bytes: number;
  readonly totalBytes: number;
}

export interface PartState {
  readonly part: string;
  readonly ready: boolean;
  readonly detail: string;
}

export interface ServiceStatus {
  readonly version: string;
  readonly startedUs: number;
  readonly uptimeMs: number;
  readonly draining: boolean;
  readonly callsActive: number;
  readonly callsLimit: number;
  /** New calls, as the mean of the last ten seconds. */
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
