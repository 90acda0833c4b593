import type { Page, Slice } from '../../base/page.ts';
import type { AlarmRecord, EndedAlarmFilter } from './types.ts';

/** Stores small texts by key. */
export interface CountryStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
}

/** Alarms of all nodes that share the store. */
export interface AlarmStore {
  /** Adds alarms, or completes known ones with their end. A first acknowledgement stays. */
  put(alarms: readonly AlarmRecord[]): Promise<void>;
  /** Returns the active alarms of the live nodes, oldest first. */
  active(): Promise<readonly AlarmRecord[]>;
  /** Returns ended alarms, latest first. */
  ended(filter: EndedAlarmFilter, slice: Slice): Promise<Page<AlarmRecord>>;
  /** Deletes alarms that began before `beforeUs` (microseconds UTC), and the oldest above `most`. */
  purge(beforeUs: number, most: number): Promise<void>;
}
