import { assert } from '../../../base/errors.ts';
import type { Random } from '../../../base/ids.ts';
import { Connection, Mispredicted, type Parameters, type Row } from '../connection.ts';
import type { SqlValue } from '../row.ts';
import type { Vault } from '../vault.ts';
import { DeferredInserts } from './deferred-inserts.ts';
import { type Answer, connectNative, type NativeLink, type StatementError } from './native-link.ts';
import { type Translated, translate, valuesOf } from './translate.ts';

/** Maximum number of statements sent before their results are read. */
const QUEUE_LIMIT = 2000;
/** Maximum number of prepared statements of a connection. */
const STATEMENT_LIMIT = 1000;
/** Time limit of a connection attempt for each host of the URL, milliseconds. `connect_timeout` of the URL precedes. */
const CONNECT_MS = 5000;
/** Extra time, in milliseconds, after the server's own statement timeout. After it, the connection counts as lost. */
const GRACE_MS = 1000;
/** Pause between two attempts to connect, milliseconds. */
const PAUSE_MS = 100;

/** A prepared statement returns other columns than before, because another node has upgraded the schema. */
const OTHER_COLUMNS = '0A000';
/**
 * Serialization failure, deadlock, lost connection, and statements that must be prepared again: nothing of the transaction was
 * written.
 */
const AGAIN: ReadonlySet<string> = new Set([
  'PG_40001',
  'PG_40P01',
  'PG_CONNECTION',
  `PG_${OTHER_COLUMNS}`,
]);

export interface PostgresOptions {
  /** Connection string as libpq reads it, such as `postgres://user:password@host:port/database?sslmode=verify-full`. */
  readonly url: string;
  readonly readonly: boolean;
  /** Timeout of a statement or answer, milliseconds. When it expires, the connection is closed. */
  readonly timeoutMs: number;
  readonly vault: Vault;
  readonly random: Random;
  /** Called after each connect, before any other statement. */
  readonly onConnect?: (connection: PostgresConnection) => void;
  /** Called when an open connection is closed or lost. */
  readonly onLost?: (() => void) | undefined;
}

/** A failed statement. `code` is `PG_` followed by the SQLSTATE. */
class PostgresError extends Error {
  readonly code: string;

  constructor({ sqlState, message }: StatementError) {
    super(message);
    this.name = 'PostgresError';
    this.code = `PG_${sqlState}`;
  }
}

interface Statement extends Translated {
  readonly name: string;
}

interface Sent {
  /** Statement text to remove from the prepared statements if preparing it fails. */
  readonly prepares?: string;
  readonly mustChange?: number | undefined;
}

/**
 * A connection to PostgreSQL. Statements whose result is not needed are queued and sent with the next statement that waits for
 * a result. Their failures surface there, or at the commit. Statements that usually change one row are assumed to have done
 * so; otherwise the server stops and the commit is refused with Mispredicted. The connection is opened on demand and reopened
 * after a loss.
 */
export class PostgresConnection extends Connection {
  readonly forUpdate: string;
  readonly #options: PostgresOptions;
  readonly #statements = new Map<string, Statement>();
  #link: NativeLink | undefined;
  readonly #later = new DeferredInserts();
  #sent: Sent[] = [];
  #names = 0;
  #inTransaction = false;
  #predicts = false;
  #retryMs = Number.NEGATIVE_INFINITY;
  #refusal: unknown;

  constructor(options: PostgresOptions) {
    super(options);
    this.#options = options;
    this.forUpdate = options.readonly ? '' : ' FOR NO KEY UPDATE';
  }

  get inTransaction(): boolean {
    return this.#inTransaction;
  }

  get serverVersion(): number {
    return this.#connected().serverVersion();
  }

  get(sql: string, parameters: Parameters = []): Row | undefined {
    return this.all(sql, parameters)[0];
  }

  all(sql: string, parameters: Parameters = []): readonly Row[] {
    const ask = (): Answer => {
      this.#queue(sql, parameters);
      return this.#wait();
    };
    let answer: Answer;
    try {
      answer = ask();
    } catch (error) {
      // The failure of a statement ends a transaction, which runs again as a whole.
      if (this.#inTransaction || !isOfOtherColumns(error)) throw error;
      answer = ask();
    }
    assert(Array.isArray(answer), 'a query answers rows');
    return answer as readonly Row[];
  }

  /** Sends several queries and waits once for all results. */
  answers(queries: ReadonlyArray<readonly [sql: string, parameters: Parameters]>) {
    const places = queries.map(([sql, parameters]) => {
      this.#queue(sql, parameters);
      return this.#sent.length - 1;
    });
    const { answers, failure, mispredicted } = this.#settle();
    if (failure !== undefined) throw new PostgresError(failure);
    if (mispredicted) throw new Mispredicted();
    return places.map((place) => answers[place] as readonly Row[]);
  }

  run(sql: string, parameters: Parameters = []): number {
    this.#queue(sql, parameters);
    return Number(this.#wait());
  }

  override send(sql: string, parameters: Parameters = []): void {
    this.#queue(sql, parameters);
    if (this.#sent.length >= QUEUE_LIMIT) this.#wait();
  }

  override sendLater(row: string, sql: string, parameters: readonly SqlValue[]): void {
    if (!this.#isLater(row, sql, parameters, false)) this.send(sql, parameters);
  }

  override changesOneLater(row: string, sql: string, parameters: readonly SqlValue[]): boolean {
    if (this.#predicts && this.#isLater(row, sql, parameters, true)) return true;
    return this.changesOne(sql, parameters);
  }

  override undone(): void {
    super.undone();
    this.#later.clear();
  }

  override changesOne(sql: string, parameters: Parameters = []): boolean {
    if (!this.#predicts) return this.run(sql, parameters) === 1;
    this.#queue(sql, parameters, { mustChange: 1 });
    if (this.#sent.length >= QUEUE_LIMIT) this.#wait();
    return true;
  }

  /** Clears the cached rows, because other nodes write too. */
  begin(predicts: boolean): void {
    this.undone();
    // Reconnects now if the connection was lost; otherwise the outcome of a commit could become unknown.
    this.notified();
    this.#queue('BEGIN');
    this.#predicts = predicts;
    this.#inTransaction = true;
  }

  commit(): void {
    // Sends COMMIT with the last statements. The server skips it if one of them failed or changed an unexpected number of
    // rows.
    this.#queue('COMMIT');
    try {
      this.#wait();
    } catch (error) {
      // The commit may or may not have succeeded, so the transaction must not be repeated.
      if (this.#link === undefined) throw new CommitLost(error);
      throw error;
    }
    this.#inTransaction = false;
  }

  rollback(): void {
    if (!this.#inTransaction) return;
    this.#inTransaction = false;
    if (this.#link === undefined) return;
    try {
      if (this.#sent.length > 0) this.#settle();
      this.#queue('ROLLBACK');
      this.#wait();
    } catch {
      this.#drop(); // the server rolls back what its client has left
    }
  }

  override meaningOf(error: unknown): 'failed' | 'again' | 'unknown' {
    if (error instanceof CommitLost) return 'unknown';
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    return AGAIN.has(code) ? 'again' : super.meaningOf(error);
  }

  /** Calls `act` when a notification may have arrived or the connection is lost; `notified` says which. */
  watch(act: () => void): void {
    this.#native(() => this.#connected().watch(act));
  }

  /** Returns whether a notification arrived on a subscribed channel. `away`: unknown, because the connection is lost. */
  notified(): 'yes' | 'no' | 'away' {
    try {
      if (this.#link === undefined) return 'away';
      return this.#link.notified() ? 'yes' : 'no';
    } catch {
      this.#drop();
      return 'away';
    }
  }

  close(): void {
    this.#link?.close();
    this.#link = undefined;
  }

  #isLater(
    row: string,
    sql: string,
    parameters: readonly SqlValue[],
    mustChange: boolean,
  ): boolean {
    if (!this.#inTransaction) return false;
    const of = { row, mustChange };
    let added = this.#later.add(sql, parameters, of);
    if (added === 'before') {
      this.#flushLater();
      added = this.#later.add(sql, parameters, of);
    }
    return added === 'taken';
  }

  #flushLater(): void {
    if (this.#later.isEmpty) return;
    for (const { sql, parameters, mustChange } of this.#later.take())
      this.#queue(sql, parameters, { mustChange });
  }

  /** Queues a statement after all deferred statements. */
  #queue(requested: string, parameters: Parameters = [], sent: Sent = {}): void {
    this.#flushLater();
    const link = this.#connected();
    const sql =
      sent.mustChange === undefined ? requested : onlyIfItChanges(requested, sent.mustChange);
    const statement = this.#statements.get(sql) ?? this.#prepare(link, sql);
    this.#native(() => link.execute(statement.name, valuesOf(statement, parameters)));
    this.#sent.push(sent);
  }

  #prepare(link: NativeLink, sql: string): Statement {
    if (this.#statements.size >= STATEMENT_LIMIT) {
      this.#statements.clear();
      this.#native(() => link.prepare('', 'DEALLOCATE ALL'));
      this.#native(() => link.execute('', []));
      this.#sent.push({}, {});
    }
    this.#names += 1;
    const statement = { ...translate(sql), name: `s${this.#names}` };
    this.#native(() => link.prepare(statement.name, statement.sql));
    this.#sent.push({ prepares: sql });
    this.#statements.set(sql, statement);
    return statement;
  }

  /** Returns the result of the last statement. Throws the first failure among all sent statements. */
  #wait(timeoutMs = this.#options.timeoutMs): Answer {
    const { last, failure, mispredicted } = this.#settle(timeoutMs);
    if (failure !== undefined) throw new PostgresError(failure);
    if (mispredicted) throw new Mispredicted();
    return last;
  }

  #settle(timeoutMs = this.#options.timeoutMs) {
    const link = this.#connected();
    const sent = this.#sent;
    this.#sent = [];
    const answers = this.#native(() => link.wait(timeoutMs + GRACE_MS));
    let failure: StatementError | undefined;
    let mispredicted = false;
    for (const [index, answer] of answers.entries()) {
      const { prepares, mustChange } = sent[index] ?? {};
      const failed = isFailure(answer);
      if (prepares !== undefined && (failed || answer === null)) this.#statements.delete(prepares);
      if (failed && mustChange !== undefined && answer.sqlState === WRONG_ROW_COUNT)
        mispredicted = true;
      else if (failed) failure ??= answer;
    }
    if (failure?.sqlState === OTHER_COLUMNS) this.#statements.clear();
    return { answers, last: answers.at(-1) ?? null, failure, mispredicted };
  }

  #connected(): NativeLink {
    if (this.#link !== undefined) return this.#link;
    // Losing the connection ends the transaction.
    if (this.#inTransaction) throw this.#refusal;
    if (performance.now() < this.#retryMs) throw this.#refusal;
    try {
      this.#link = connectNative(this.#options.url, CONNECT_MS);
      this.#statements.clear();
      this.#sent = [];
      this.#setUp();
      return this.#link;
    } catch (error) {
      this.#drop();
      this.#retryMs = performance.now() + PAUSE_MS;
      this.#refusal = error;
      throw error;
    }
  }

  #setUp(): void {
    const { readonly, timeoutMs, onConnect } = this.#options;
    const settings = {
      application_name: 'carillon',
      client_encoding: 'UTF8',
      bytea_output: 'hex',
      standard_conforming_strings: 'on',
      default_transaction_isolation: 'read committed',
      default_transaction_read_only: readonly ? 'on' : 'off',
      statement_timeout: String(timeoutMs),
      lock_timeout: String(Math.ceil(timeoutMs / 2)),
      idle_in_transaction_session_timeout: String(timeoutMs),
    };
    for (const [name, value] of Object.entries(settings)) this.send(`SET ${name} = '${value}'`);
    // A PgBouncer whose pool is exhausted accepts connections and lets their first statement wait.
    this.#wait(CONNECT_MS);
    onConnect?.(this);
  }

  #native<T>(act: () => T): T {
    try {
      return act();
    } catch (error) {
      this.#refusal = error;
      this.#drop();
      throw error;
    }
  }

  #drop(): void {
    const link = this.#link;
    this.#link = undefined;
    this.#sent = [];
    this.#statements.clear();
    link?.close();
    if (link !== undefined) this.#options.onLost?.();
  }
}

/** The connection broke during a commit, whose outcome is unknown. */
class CommitLost extends Error {
  readonly code = 'PG_CONNECTION';

  constructor(cause: unknown) {
    super('the connection broke during a commit', { cause });
    this.name = 'CommitLost';
  }
}

/** SQLSTATE raised by the function `refuse_row_count` of our schema. */
const WRONG_ROW_COUNT = 'ZR001';

/**
 * Wraps a statement so that it fails with WRONG_ROW_COUNT if it changes another number of rows. The server then skips the
 * statements after it.
 */
const onlyIfItChanges = (sql: string, rows: number): string =>
  `WITH changed AS (${sql} RETURNING 1)
    SELECT CASE count(*) WHEN ${rows} THEN 1 ELSE refuse_row_count(count(*)) END AS ok FROM changed`;

const isOfOtherColumns = (error: unknown): boolean =>
  error instanceof PostgresError && error.code === `PG_${OTHER_COLUMNS}`;

const isFailure = (answer: Answer): answer is StatementError =>
  answer !== null && typeof answer === 'object' && !Array.isArray(answer);
