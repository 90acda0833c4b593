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
