/** Monitors calls, carriers, disk and certificates, and reports raised and cleared alarms to the operator. */
import { X509Certificate } from 'node:crypto';
import { readFileSync, statfsSync } from 'node:fs';
import { type Clock, wallUs } from '../base/clock.ts';
import { DAY_MS, HOUR_MS } from '../base/duration.ts';
import { type AccountId, asAccountId } from '../base/ids.ts';
import { unitsFromMicros } from '../base/money.ts';
import { RepeatedTask } from '../base/repeated-task.ts';
import { ALARM_KINDS, AlarmBook, CalledCountries, CallTrends } from '../domain/alarm/alarm.ts';
import type { AlarmStore } from '../domain/alarm/needs.ts';
import type {
  Alarm,
  AlarmLimits,
  AlarmRecord,
  AlarmTimes,
  Condition,
} from '../domain/alarm/types.ts';
import type { Cdr } from '../domain/cdr/types.ts';
import type { Ledger } from '../domain/ledger/ledger.ts';
import type { LowBalanceAlert } from '../domain/ledger/types.ts';
import type { SettingStore } from '../edge/store/store.ts';
import { AlarmReports, type AlarmReportsParts, recordOf } from './alarm-reports.ts';

export interface AlarmParts extends AlarmReportsParts {
  readonly settings: AlarmReportsParts['settings'] &
    AlarmLimits &
    AlarmTimes & { readonly everyMs: number };
  readonly dataDir: string;
  /** Certificate files by setting name. */
  readonly certificates: Readonly<Record<string, string>>;
  readonly carriers: () => readonly {
    readonly name: string;
    readonly reachable: boolean | undefined;
    readonly lastStatus: number | undefined;
  }[];
  readonly ledger: Pick<Ledger, 'daily'>;
  /** Returns whether the available balance is still below its threshold. */
  readonly isLow?: (accountId: AccountId, currency: string) => Promise<boolean>;
  /** Returns the number of database rows recorded as unreadable. */
  readonly unreadableRows?: () => Promise<number>;
  readonly marks: SettingStore;
  /** Alarms of all nodes that share the database. */
  readonly records: AlarmStore;
  /** Conditions that keep this node from serving calls: the database, Redis, file descriptors, or another node. */
  readonly conditions?: () => readonly { readonly condition: string; readonly cause: string }[];
  /** Units of work that wait on the local disk for PostgreSQL. */
  readonly spooled?: () => number;
  /** Finished recordings that wait for object storage. */
  readonly offloadWaiting?: () => number;
  readonly clock: Clock;
}

const DISK_FREE_SHARE = 0.1;
const DISK_FREE_BYTES = 2 ** 30;
/** More recordings than this are a backlog; fewer are on their way. */
const BACKLOG_FILES = 1000;
const CERTIFICATE_DAYS = 21;
const HISTORY_DAYS = 7;
/** Minimum number of days of use for a spending history. */
const HISTORY_MIN_DAYS = 2;
const HISTORIES_MAX = 5000;
/** Maximum number of events between two checks. Further ones are dropped. */
const MOMENTS_MAX = 100;
const LOW_MAX = 500;

export class Alarms {
  readonly #parts: AlarmParts;
  readonly #book: AlarmBook;
  readonly #reports: AlarmReports;
  readonly #trends = new CallTrends();
  readonly #countries: CalledCountries;
  /** Events since the last check. */
  #moments: Condition[] = [];
  readonly #usual = new Map<AccountId, { readonly atMs: number; value: number | undefined }>();
  /** Balances below their threshold, by account and currency. */
  readonly #low = new Map<string, { accountId: AccountId; currency: string; detail: string }>();
  /** Number of unreadable rows at the last check. */
  #unreadable = 0;
  readonly #looks: RepeatedTask;

  constructor(parts: AlarmParts) {
    this.#parts = parts;
    this.#book = new AlarmBook(parts.settings);
    this.#reports = new AlarmReports(parts);
    this.#countries = new CalledCountries(parts.marks);
    this.#looks = new RepeatedTask({
      clock: parts.clock,
      everyMs: parts.settings.everyMs,
      round: () => this.look(),
      failed: (error) => parts.logger.error({ error }, 'alarm check failed'),
    });
  }

  /** Restores the alarms reported before a restart, and starts the checks. */
  async start(): Promise<void> {
    try {
      const reported = await this.#reported();
      this.#book.restore(reported, this.#parts.clock.monotonicMs());
      for (const { kind, subject, detail } of reported) {
        const [accountId = '', currency = ''] = subject.split(' ');
        if (kind !== 'low_balance') continue;
        this.#low.set(subject, { accountId: asAccountId(accountId), currency, detail });
      }
    } catch (error) {
      this.#parts.logger.error({ error }, 'failed to read the alarms from before the restart');
    }
    this.#looks.start();
  }

  /** Returns the alarms of this node that were active before the restart. */
  async #reported(): Promise<readonly Alarm[]> {
    const { records, nodeId, marks } = this.#parts;
    const key = `alarm.raised.${nodeId}`;
    // Earlier versions stored the raised alarms under this key.
    const older = JSON.parse((await marks.get(key)) ?? '[]') as Alarm[];
    if (older.length > 0) {
      await records.put(older.map((alarm) => recordOf(alarm, nodeId)));
      await marks.set(key, '[]');
    }
    return (await records.active()).filter((alarm) => alarm.nodeId === nodeId);
  }

  async stop(): Promise<void> {
    await this.#looks.stop();
    await this.#reports.stop();
  }

  /** Records a call that has ended. */
  observe(cdr: Cdr): void {
    const { clock, logger } = this.#parts;
    this.#trends.observe(cdr, clock.monotonicMs());
    this.#countries
      .observe(cdr, wallUs(clock))
      .then((found) => {
        if (found !== undefined && this.#moments.length < MOMENTS_MAX) this.#moments.push(found);
      })
      .catch((error: unknown) => logger.error({ error }, 'failed to record a called country'));
  }

  /** Raises an alarm for a balance below its threshold. It clears when the balance is above again. */
  lowBalance({ accountId, currency, available, threshold }: LowBalanceAlert): void {
    if (this.#low.size >= LOW_MAX) return;
    const detail = `${unitsFromMicros(available)} ${currency} available, threshold ${unitsFromMicros(threshold)}`;
    this.#low.set(`${accountId} ${currency}`, { accountId, currency, detail });
  }

  /** Returns the active alarms of this node, oldest first. */
  list(): readonly Alarm[] {
    return this.#book.list();
  }

  /**
   * Returns the active alarms of all live nodes with their acknowledgements, oldest first. If the database does not answer,
   * returns the alarms of this node.
   */
  async active(): Promise<readonly AlarmRecord[]> {
    const { records, nodeId, logger } = this.#parts;
    const stored = await records.active().catch((error: unknown) => {
      logger.warn({ error }, 'failed to read the alarms of all nodes');
      return [];
    });
    const known = new Map(stored.map((alarm) => [keyOf(alarm), alarm]));
    const own = this.list().map((alarm) => {
      const record = recordOf(alarm, nodeId);
      return { ...record, ...known.get(keyOf(record)), detail: alarm.detail };
    });
    const others = stored.filter((alarm) => alarm.nodeId !== nodeId);
    return [...own, ...others].sort((a, b) => a.sinceUs - b.sinceUs);
  }

  /** Stores that the user `by` knows of an active alarm. Returns false if it is not active. */
  async acknowledge(
    { kind, subject, nodeId }: Pick<AlarmRecord, 'subject'> & { kind: string; nodeId?: string },
    by: string,
  ): Promise<boolean> {
    const found = (await this.active()).filter(
      (alarm) =>
        alarm.kind === kind &&
        alarm.subject === subject &&
        (nodeId === undefined || alarm.nodeId === nodeId),
    );
    const acknowledgedUs = wallUs(this.#parts.clock);
    await this.#parts.records.put(
      found.map((alarm) => ({ ...alarm, acknowledgedUs, acknowledgedBy: by })),
    );
    return found.length > 0;
  }

  counts(): Readonly<Record<string, number>> {
    const raised = this.list();
    return Object.fromEntries(
      ALARM_KINDS.map((kind) => [kind, raised.filter((alarm) => alarm.kind === kind).length]),
    );
  }

  disk(): { readonly freeBytes: number; readonly totalBytes: number } | undefined {
    try {
      const { bavail, blocks, bsize } = statfsSync(this.#parts.dataDir);
      return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
    } catch {
      return undefined; // the folder is missing, which the store reports
    }
  }

  certificates(): readonly { readonly setting: string; readonly endsMs: number }[] {
    return Object.entries(this.#parts.certificates).flatMap(([setting, file]) => {
      if (file === '') return [];
      try {
        const { validTo } = new X509Certificate(readFileSync(file));
        return [{ setting, endsMs: Date.parse(validTo) }];
      } catch {
        return []; // not readable now; the component that uses it reports that
      }
    });
  }

  /** Checks everything now and reports the changes. */
  look(): void {
    const { clock, logger, settings } = this.#parts;
    const nowMs = clock.monotonicMs();
    const usual = (accountId: AccountId): number | undefined => this.#usualSpend(accountId, nowMs);
    const conditions = [
      ...this.#trends.conditions(settings, usual, nowMs),
      ...this.#carrierConditions(),
      ...this.#diskConditions(),
      ...this.#certificateConditions(),
      ...this.#lowBalances(),
      ...this.#unreadableRows(),
      ...this.#clusterConditions(),
      ...this.#moments,
    ];
    this.#moments = [];
    const nowUs = wallUs(clock);
    const changes = this.#book.update(conditions, nowMs, nowUs);
    for (const { state, ...alarm } of changes) {
      if (state === 'raised') logger.warn({ ...alarm }, 'alarm raised');
      else logger.info({ ...alarm }, 'alarm cleared');
    }
    if (changes.length > 0) this.#reports.add(changes, nowUs);
  }

  /** Returns the low balances of the last check, and queries each again for the next one. */
  #lowBalances(): readonly Condition[] {
    const { isLow, logger } = this.#parts;
    return [...this.#low].map(([subject, { accountId, currency, detail }]) => {
      isLow?.(accountId, currency).then(
        (still) => void (still || this.#low.delete(subject)),
        (error: unknown) => logger.error({ error, accountId }, 'failed to query a balance'),
      );
      return { kind: 'low_balance', subject, detail };
    });
  }

  /** Returns the unreadable rows of the last check, and counts them again for the next one. */
  #unreadableRows(): readonly Condition[] {
    const { unreadableRows, logger } = this.#parts;
    unreadableRows?.().then(
      (count) => {
        this.#unreadable = count;
      },
      (error: unknown) => logger.error({ error }, 'failed to count unreadable rows'),
    );
    if (this.#unreadable === 0) return [];
    const detail = `${this.#unreadable} rows of the database cannot be read and are skipped; \`carillon store unreadable\` lists them`;
    return [{ kind: 'unreadable_rows', subject: '', detail }];
  }

  #carrierConditions(): readonly Condition[] {
    return this.#parts.carriers().flatMap(({ name, reachable, lastStatus }) =>
      reachable === false
        ? [
            {
              kind: 'carrier_down' as const,
              subject: name,
              detail: `the carrier does not answer OPTIONS${lastStatus === undefined ? '' : ` (last status ${lastStatus})`}`,
            },
          ]
        : [],
    );
  }

  #clusterConditions(): readonly Condition[] {
    const { conditions, spooled, offloadWaiting } = this.#parts;
    const [units, files] = [spooled?.() ?? 0, offloadWaiting?.() ?? 0];
    const held = conditions?.() ?? [];
    const found: Condition[] = held.map(({ condition, cause }) => ({
      kind: 'not_serving',
      subject: condition,
      detail: cause,
    }));
    if (units > 0)
      found.push({ kind: 'spool', subject: '', detail: `${units} units wait for PostgreSQL` });
    if (files > BACKLOG_FILES)
      found.push({ kind: 'object_backlog', subject: '', detail: `${files} recordings wait` });
    return found;
  }

  #diskConditions(): readonly Condition[] {
    const disk = this.disk();
    if (disk === undefined) return [];
    const { freeBytes, totalBytes } = disk;
    if (freeBytes >= DISK_FREE_BYTES && freeBytes >= totalBytes * DISK_FREE_SHARE) return [];
    const detail = `${(freeBytes / 2 ** 30).toFixed(1)} GiB free of ${(totalBytes / 2 ** 30).toFixed(1)}`;
    return [{ kind: 'disk', subject: this.#parts.dataDir, detail }];
  }

  #certificateConditions(): readonly Condition[] {
    const nowMs = this.#parts.clock.wallMs();
    return this.certificates().flatMap(({ setting, endsMs }) => {
      const days = Math.floor((endsMs - nowMs) / DAY_MS);
      if (days >= CERTIFICATE_DAYS) return [];
      const detail =
        days < 0 ? 'the certificate has expired' : `the certificate expires in ${days} days`;
      return [{ kind: 'certificate' as const, subject: setting, detail }];
    });
  }

  /** Returns the usual spend, queried once per hour. Undefined until the result is available. */
  #usualSpend(accountId: AccountId, nowMs: number): number | undefined {
    const known = this.#usual.get(accountId);
    if (known !== undefined && nowMs - known.atMs < HOUR_MS) return known.value;
    const retained = { atMs: nowMs, value: known?.value };
    this.#usual.delete(accountId);
    this.#usual.set(accountId, retained);
    const [oldest] = this.#usual.keys();
    if (this.#usual.size > HISTORIES_MAX && oldest !== undefined) this.#usual.delete(oldest);
    const { ledger, clock, logger } = this.#parts;
    const today = Math.floor(clock.wallMs() / DAY_MS);
    ledger.daily(accountId, today - HISTORY_DAYS, today - 1).then(
      (totals) => {
        const calls = totals.filter(({ referenceType }) => /^(stream_)?cdr$/.test(referenceType));
        const days = new Set(calls.map(({ day }) => day)).size;
        const spent = calls.reduce((sum, { debit }) => sum + debit, 0);
        retained.value = days < HISTORY_MIN_DAYS ? undefined : spent / (days * 24);
      },
      (error: unknown) => logger.error({ error, accountId }, 'failed to read the usual spend'),
    );
    return retained.value;
  }
}

const keyOf = ({ nodeId, kind, subject, sinceUs }: AlarmRecord): string =>
  `${nodeId} ${kind} ${subject} ${sinceUs}`;
