/** One life of a node: its id, and how often it has begun. What it makes in the store bears both. */
export interface NodeRef {
  readonly id: string;
  readonly epoch: number;
}

/** A node as the store knows it; `beats` grows while it lives. */
export interface NodeRecord extends NodeRef {
  readonly beats: number;
  readonly begunUs: number;
  /** At its last beat it could hear of others in another way than by the store. */
  readonly hears: boolean;
}

/** Work that one node does for all. */
export type Job = 'housekeeping' | 'campaigns' | 'firstStart';
