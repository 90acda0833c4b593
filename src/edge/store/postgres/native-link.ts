import { loadNativeAddon } from '../../../base/native-addon.ts';
import type { Row, SqlValue } from '../row.ts';

/** Error of a failed statement. */
export interface StatementError {
  /** SQLSTATE; https://www.postgresql.org/docs/current/errcodes-appendix.html */
  readonly sqlState: string;
  readonly message: string;
}

/** Result of a command: rows, a number of changed rows, an error, or null if an earlier failure made the server skip it. */
export type Answer = readonly Row[] | number | StatementError | null;

/**
 * A connection through libpq (native/addon/postgres_link.cpp) that blocks the calling thread while it waits. Failures of the
 * connection are thrown as errors whose `code` is PG_CONNECTION.
 */
export interface NativeLink {
  /** Prepares a statement; queued until `wait`. */
  prepare(name: string, sql: string): void;
  execute(name: string, values: readonly SqlValue[]): void;
  /** Sends the queued commands and returns one result for each, in order. */
  wait(timeoutMs: number): readonly Answer[];
  /** Returns whether a notification arrived on a channel that this connection listens to. */
  notified(): boolean;
  /** Calls `onReadable` when data arrives outside a statement; `notified` reads it. May be called once per connection. */
  watch(onReadable: () => void): void;
  /** Server version as a number: 150018 is 15.18. */
  serverVersion(): number;
  close(): void;
}

interface Addon {
  readonly PostgresLink: new (conninfo: string, timeoutMs: number) => NativeLink;
}

export function connectNative(conninfo: string, timeoutMs: number): NativeLink {
  const { PostgresLink } = loadNativeAddon() as Addon;
  return new PostgresLink(conninfo, timeoutMs);
}
