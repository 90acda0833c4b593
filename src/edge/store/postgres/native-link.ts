import { loadNativeAddon } from '../../../base/native-addon.ts';
import type { Row, SqlValue } from '../row.ts';

/** A statement that failed. */
export interface StatementError {
  /** https://www.postgresql.org/docs/current/errcodes-appendix.html */
  readonly sqlState: string;
  readonly message: string;
}

/** Rows, a number of rows changed, why not, or null: not done because of a failure before it. */
export type Answer = readonly Row[] | number | StatementError | null;

/**
 * One connection by libpq (native/addon/postgres_link.cpp): it waits on the calling thread. Whatever goes wrong with the
 * connection itself is thrown as an error whose `code` is PG_CONNECTION.
 */
export interface NativeLink {
  /** Queued until `wait`. */
  prepare(name: string, sql: string): void;
  execute(name: string, values: readonly SqlValue[]): void;
  /** Sends what is queued; one answer for each command, in order. */
  wait(timeoutMs: number): readonly Answer[];
  /** Whether something was told on a channel that this connection listens to. */
  notified(): boolean;
  /** `onReadable` is called while there is something that nobody waits for: to be read with `notified`. Once a link. */
  watch(onReadable: () => void): void;
  /** 150018: 15.18 */
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
