/** Who is at the other end of a leg, as far as it is known. */
export interface Peer {
  readonly sipCallId: string | undefined;
  readonly userAgent: string | undefined;
  /** Where its signalling comes from. */
  readonly remoteAddress: string | undefined;
  readonly carrier: string | undefined;
  /** It was called as a carrier or trunk that may be sent REFER. */
  readonly takesRefer?: boolean;
}

export const NOBODY: Peer = {
  sipCallId: undefined,
  userAgent: undefined,
  remoteAddress: undefined,
  carrier: undefined,
};
