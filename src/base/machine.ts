/**
 * The sans-I/O contract: a protocol machine is told what happened and when; it answers what to do.
 * `nowMs` is monotonic milliseconds; a machine never reads a clock.
 */
export interface Machine<Input, Output> {
  handle(input: Input, nowMs: number): readonly Output[];
  /** Fires every timer due at `nowMs`. */
  expire(nowMs: number): readonly Output[];
  /** The earliest moment at which `expire` has something to do; undefined when idle. */
  deadlineMs(): number | undefined;
}
