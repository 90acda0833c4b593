import type { NodeStore } from './needs.ts';
import type { NodeRef } from './types.ts';

/** This process as a node. Its epoch grows with each new start or rejoin, also within one process. */
export class SelfNode implements NodeRef {
  readonly id: string;
  /** Set only by `begin`. A plain field, so that it can be passed to the store's worker thread. */
  epoch = 0;

  constructor(id: string) {
    this.id = id;
  }

  async begin(nodes: Pick<NodeStore, 'begin'>, alone: boolean): Promise<void> {
    this.epoch = await nodes.begin(this.id, alone);
  }
}
