/** Types of repositories, and the interfaces of those that only the service uses. */
import type { Page, Slice } from '../../base/page.ts';
import type { Connection } from './connection.ts';
import type { UnreadableRow } from './unreadable.ts';

/** Internal facts of the service: the digest realm, and hashes and keys created at the first start. */
export interface SettingStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
  /** Returns the stored value, or stores and returns `value`. The first caller determines the value. */
  getOrSet(key: string, value: string): Promise<string>;
  /** Like `getOrSet`, for a value that is encrypted with the key file. */
  keepSecret(key: string, value: string): Promise<string>;
  /** Returns a value stored with `keepSecret`. */
  secret(key: string): Promise<string | undefined>;
}

/** Records of rows that could not be read, for the operator. */
export interface UnreadableRowStore {
  /** Adds records. Existing records stay unchanged. */
  put(rows: readonly UnreadableRow[]): Promise<void>;
  /** Lists records, latest first. `foundUs`: microseconds UTC. */
  page(slice: Slice): Promise<Page<UnreadableRow & { readonly foundUs: number }>>;
  /**
   * Removes a record; returns false if it does not exist. The row itself stays, except for an open call: it is removed and its
   * reservations are released.
   */
  remove(table: string, key: string): Promise<boolean>;
}

/**
 * Where an operation runs. `write`: on the writing connection, in a grouped transaction. `soon`: like `write`, but deferred
 * because no caller waits; committed with the next transaction or a short delay later. `ahead`: like `write`, but answered
 * before its commit, and committed before any later unit; falls back to `write`. `point`: a short read on the writing
 * connection, so that it does not wait for reports. `report`: a read on a separate read-only connection.
 */
export type Access = 'write' | 'soon' | 'ahead' | 'point' | 'report';

/** The same operations without promises, as implemented on one connection. */
export type Synchronously<T> = {
  readonly [Key in keyof T]: T[Key] extends (...given: infer Given) => Promise<infer Value>
    ? (...given: Given) => Value
    : never;
};

export type AccessOf<Store> = { readonly [Operation in keyof Store]: Access };

/** A repository: its implementation on one connection of any database, and where each operation runs. */
export interface Definition<Store> {
  readonly create: (db: Connection) => Synchronously<Store>;
  readonly access: AccessOf<Store>;
  /** Interface for callers. Never set: it exists only as a type. */
  readonly store?: Store;
}

export const repository = <Store>(
  create: (db: Connection) => Synchronously<Store>,
  access: AccessOf<Store>,
): Definition<Store> => ({ create, access });
