import { type Flow, peerOf } from '../../protocol/sip/sip.ts';
import { AdmissionQueue } from './admission-queue.ts';

/** Queue of new calls that tracks their flows, so that a CANCEL never overtakes its queued INVITE. */
export class CallLine<T extends { readonly flow: Flow }> extends AdmissionQueue<T> {
  readonly #waiting = new Map<string, number>();

  isWaiting(flow: Flow): boolean {
    return this.#waiting.size > 0 && this.#waiting.has(flowName(flow));
  }

  override add(item: T): boolean {
    const hasRoom = super.add(item);
    if (hasRoom) this.#count(item, 1);
    return hasRoom;
  }

  override next(nowMs?: number): T | undefined {
    const item = super.next(nowMs);
    if (item !== undefined) this.#count(item, -1);
    return item;
  }

  #count({ flow }: T, by: 1 | -1): void {
    const name = flowName(flow);
    const count = (this.#waiting.get(name) ?? 0) + by;
    if (count === 0) this.#waiting.delete(name);
    else this.#waiting.set(name, count);
  }
}

export const flowName = (flow: Flow): string => {
  const { transport, address, port } = peerOf(flow);
  return `${transport} ${address} ${port}`;
};
