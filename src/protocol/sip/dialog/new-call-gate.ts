/** One who asks whether a call may begin. */
export interface Asking {
  /** Since the request came to this machine. */
  readonly waitedMs: number;
  /** Proved who it is before, or is a carrier. */
  readonly isKnown: boolean;
  /** It would wait too long. */
  readonly isTooMany?: boolean;
}

/** Limits how many calls begin, for whoever knows how much there is to do. */
export interface NewCallGate {
  /** False: a call may not begin now. */
  mayBegin(asking: Asking): boolean;
  /** One begins. */
  begin(): void;
}
