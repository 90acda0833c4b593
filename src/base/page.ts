/** A cut of a list: `limit` rows after skipping `offset`. */
export interface Slice {
  readonly limit: number;
  readonly offset: number;
}

/** One cut and the size of the whole. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly total: number;
}
