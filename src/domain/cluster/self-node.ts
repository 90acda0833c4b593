import type { NodeStore } from './needs.ts';
import type { NodeRef } from './types.ts';

/** This process as a node. Its epoch grows when it begins a new life, also within one process. */
export class SelfNode implements NodeRef {
  readonly id: string;
  /** Set by `begin` alone; a plain field, so that it crosses to a thread of the store. */
  epoch = 0;

  constructor(id: string) {
    this.id = id;
  }

  async begin(nodes: Pick<NodeStore, 'begin'>, alone: boolean): Promise<void> {
    this.epoch = await nodes.begin(this.id, alone);
  }
}
