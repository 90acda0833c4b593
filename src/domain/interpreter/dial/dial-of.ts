import type { Call } from '../../call/call.ts';

/** A `Dial` that runs, as the control of live calls sees it. */
export interface LiveDial {
  /** The B leg that the A leg talks to; undefined while nobody has been connected. */
  readonly leg: Call | undefined;
  /** Every called party that still rings or talks. */
  readonly legs: readonly Call[];
  /**
   * Takes the connected B leg out of the Dial, to be given a script of its own (transfer with bleg_url): the bridge ends,
   * the leg lives on, and the A leg's document goes on as after any other Dial.
   */
  release(): Call | undefined;
  /** It is one that talks or rings in it. */
  has(call: Call): boolean;
  /** Another call talks from now on instead of one of its legs; false: that one is not there any more, or has nobody to talk to. */
  takePlace(of: Call, newcomer: Call): boolean;
}

const live = new WeakMap<Call, LiveDial>();

/** The Dial that runs on this A leg. */
export const dialOf = (call: Call): LiveDial | undefined => live.get(call);

export function keepLiveDial(call: Call, dial: LiveDial): () => void {
  live.set(call, dial);
  return () => {
    if (live.get(call) === dial) live.delete(call);
  };
}
