/**
 * The sans-I/O contract: a protocol machine receives events with their time and returns actions.
 * `nowMs` is monotonic milliseconds; a machine never reads a clock.
 */
export interface Machine<Input, Output> {
  handle(input: Input, nowMs: number): readonly Output[];
  /** Fires every timer due at `nowMs`. */
  expire(nowMs: number): readonly Output[];
  /** Returns the earliest time at which `expire` has work. Undefined when idle. */
  deadlineMs(): number | undefined;
}
