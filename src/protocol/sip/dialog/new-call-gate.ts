/** Facts about a request to start a call. */
export interface Asking {
  /** Time since the request arrived at this machine, in milliseconds. */
  readonly waitedMs: number;
  /** True if the source has authenticated before or is a carrier. */
  readonly isKnown: boolean;
  /** True if the request would wait too long in the queue. */
  readonly isTooMany?: boolean;
}

/** Limits how many calls start, according to the load. */
export interface NewCallGate {
  /** Returns false if a call may not start now. */
  mayBegin(asking: Asking): boolean;
  /** Counts the start of a call. */
  begin(): void;
}
