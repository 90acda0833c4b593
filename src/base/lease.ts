/** Confirms that no other node can have adopted the work of this node. */
export interface Lease {
  /** Resolves while the lease is held. Rejects with the signal's reason if it aborts first. */
  held(signal: AbortSignal): Promise<void>;
}
