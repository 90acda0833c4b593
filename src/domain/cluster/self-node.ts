import type { Clock } from '../../base/clock.ts';
import type { NodeStore } from './needs.ts';
import type { NodeRef } from './types.ts';

/** Time in ms in which a living node sends at least two heartbeats. */
const WATCH_MS = 2500;
const LOOK_MS = 250;

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

  /**
   * Returns whether another process with the ID of this node sends heartbeats. A process that has crashed sends none. Watches
   * them for up to `WATCH_MS` if an epoch of another process has not ended.
   */
  async isRunElsewhere(
    nodes: Pick<NodeStore, 'list'>,
    clock: Pick<Clock, 'monotonicMs' | 'sleep'>,
  ): Promise<boolean> {
    const other = async () => {
      const found = (await nodes.list()).find(({ id }) => id === this.id);
      return found?.epoch === this.epoch ? undefined : found;
    };
    const first = await other();
    if (first === undefined) return false;
    const endMs = clock.monotonicMs() + WATCH_MS;
    while (clock.monotonicMs() < endMs) {
      await clock.sleep(LOOK_MS);
      const now = await other();
      if (now === undefined) return false;
      if (now.epoch !== first.epoch || now.beats !== first.beats) return true;
    }
    return false;
  }
}
