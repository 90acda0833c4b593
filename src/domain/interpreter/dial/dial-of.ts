import type { Call } from '../../call/call.ts';

/** Active `Dial`, as seen by the control of live calls. */
export interface LiveDial {
  /** Connected B leg; undefined until a leg is connected. */
  readonly leg: Call | undefined;
  /** All B legs that are ringing or connected. */
  readonly legs: readonly Call[];
  /**
   * Removes the connected B leg from the Dial, so that it can run another script (transfer with bleg_url). The bridge
   * ends, the leg stays active, and the A leg's document continues as after any Dial.
   */
  release(): Call | undefined;
  /** Returns true if the call is a party of this Dial, ringing or connected. */
  has(call: Call): boolean;
  /** Lets `newcomer` replace one of the parties. Returns false if that party has left or has no partner. */
  takePlace(of: Call, newcomer: Call): boolean;
}

const live = new WeakMap<Call, LiveDial>();

/** Returns the active Dial of this A leg. */
export const dialOf = (call: Call): LiveDial | undefined => live.get(call);

export function keepLiveDial(call: Call, dial: LiveDial): () => void {
  live.set(call, dial);
  return () => {
    if (live.get(call) === dial) live.delete(call);
  };
}
