/** Live watchers of messages between the service and the bots of a call, without audio. */
import type { CallUuid } from '../../base/ids.ts';

export interface WatchedMessage {
  readonly direction: 'toBot' | 'fromBot';
  readonly text: string;
}

type Listener = (message: WatchedMessage) => void;

export class StreamWatches {
  readonly #listeners = new Map<CallUuid, Set<Listener>>();

  watch(callUuid: CallUuid, listener: Listener): { close(): void } {
    const own = this.#listeners.get(callUuid) ?? new Set();
    this.#listeners.set(callUuid, own);
    own.add(listener);
    return {
      close: () => {
        own.delete(listener);
        if (own.size === 0) this.#listeners.delete(callUuid);
      },
    };
  }

  /** Calls `text` only if there is a watcher. */
  notify(callUuid: CallUuid, direction: WatchedMessage['direction'], text: () => string): void {
    for (const listener of this.#listeners.get(callUuid) ?? []) {
      listener({ direction, text: text() });
    }
  }
}
