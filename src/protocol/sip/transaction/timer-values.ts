/** Timers of RFC 3261 §17 (table 4), RFC 6026 and RFC 4320, all in milliseconds. */
export interface TimerValues {
  /** Estimated round-trip time. */
  readonly t1: number;
  /** Longest interval between retransmissions of a non-INVITE request or an INVITE response. */
  readonly t2: number;
  /** Maximum lifetime of a message in the network. */
  readonly t4: number;
}

export const RFC3261_TIMERS: TimerValues = { t1: 500, t2: 4_000, t4: 5_000 };

/** Value of timers B, F, H, J, L, M, and D over UDP: 64*T1. */
export const timeout = (timers: TimerValues): number => 64 * timers.t1;

/**
 * Time until a client's Timer E reaches T2 (RFC 4320 §4.1): the sum of its intervals T1, 2*T1, … below T2. 3.5 s by
 * default.
 */
export function timerEReachesT2(timers: TimerValues): number {
  let sum = 0;
  for (let interval = timers.t1; interval < timers.t2; interval *= 2) sum += interval;
  return sum;
}
