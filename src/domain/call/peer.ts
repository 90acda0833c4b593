/** Known facts about the remote party of a leg. */
export interface Peer {
  readonly sipCallId: string | undefined;
  readonly userAgent: string | undefined;
  /** Source IP address of its signalling. */
  readonly remoteAddress: string | undefined;
  readonly carrier: string | undefined;
  /** True if it was called as a carrier or trunk that accepts REFER. */
  readonly takesRefer?: boolean;
}

export const NOBODY: Peer = {
  sipCallId: undefined,
  userAgent: undefined,
  remoteAddress: undefined,
  carrier: undefined,
};
