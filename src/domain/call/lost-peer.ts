/**
 * Ends a call whose peer has vanished: the WebSocket of a browser has closed, its media has stopped, and it has not
 * connected again. A browser whose network changes keeps its call, because its media continues or it connects again.
 */
import type { Clock } from '../../base/clock.ts';
import type { CallLog } from './call-log.ts';

const CHECK_MS = 250;
/** Silence that ends a call, counted from the close of the connection or the last RTP packet, whichever is later. */
const GONE_MS = 2500;
/** The same for a peer that holds the call: it may send no RTP. */
const HELD_GONE_MS = 30_000;

export interface LostPeerNeeds {
  readonly clock: Pick<Clock, 'at' | 'monotonicMs'>;
  readonly log: Pick<CallLog, 'add'>;
  /** RTP packets received so far; undefined without media. */
  packetsReceived(): number | undefined;
  isHeld(): boolean;
  /** Called once. `sinceMs`: monotonic time at which the connection closed or the last packet was seen. */
  gone(sinceMs: number, detail: string): void;
}

export class LostPeer {
  readonly #needs: LostPeerNeeds;
  #cancel: (() => void) | undefined;

  constructor(needs: LostPeerNeeds) {
    this.#needs = needs;
  }

  /** The connection has closed (false), or the peer has connected again (true). */
  connection(connected: boolean): void {
    this.stop();
    const { log } = this.#needs;
    if (connected) log.add('sip', 'the peer has connected again');
    else log.add('warning', 'the connection of the peer has closed');
    if (!connected) this.#watch(this.#needs.clock.monotonicMs(), this.#needs.packetsReceived());
  }

  /** The call has ended. */
  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #watch(sinceMs: number, packets: number | undefined): void {
    const { clock, packetsReceived, isHeld, gone } = this.#needs;
    this.#cancel = clock.at(clock.monotonicMs() + CHECK_MS, () => {
      const nowMs = clock.monotonicMs();
      const now = packetsReceived();
      const receivedMs = now === packets ? sinceMs : nowMs;
      if (nowMs - receivedMs < (isHeld() ? HELD_GONE_MS : GONE_MS)) this.#watch(receivedMs, now);
      else {
        this.#cancel = undefined;
        gone(receivedMs, 'the connection of the peer has closed and its media has stopped');
      }
    });
  }
}
