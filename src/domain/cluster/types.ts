/** One epoch of a node: its ID and the number of its starts. Rows that it writes carry both. */
export interface NodeRef {
  readonly id: string;
  readonly epoch: number;
}

/** A node as stored. `beats` grows while it is alive. */
export interface NodeRecord extends NodeRef {
  readonly beats: number;
  readonly begunUs: number;
  /** Whether, at its last beat, the node could check reachability through another channel than the store. */
  readonly hears: boolean;
}

/** Cluster-wide work that one node does. */
export type Job = 'housekeeping' | 'campaigns' | 'firstStart';
