import type { AccountId } from './ids.ts';

/** A page of a list: `limit` rows after skipping `offset`. */
export interface Slice {
  readonly limit: number;
  readonly offset: number;
}

/** One page and the total number of rows. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly total: number;
}

/** Filters of lists are combined with AND. An absent filter matches everything. */
export interface OwnerFilter {
  readonly accountId: AccountId;
  readonly subAccount?: AccountId | undefined;
}

/** Filters for records of two parties by their numbers, in stored form. */
export interface PartyFilter {
  readonly fromNumber?: string | undefined;
  readonly toNumber?: string | undefined;
}

/** Inclusive bounds of the time of a record, microseconds UTC. */
export interface TimeFilter {
  readonly fromUs?: number | undefined;
  readonly toUs?: number | undefined;
}
