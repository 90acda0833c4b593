import type { SipMessage } from '../../../protocol/sip/sip.ts';
import type { DrachtioConnection } from './connection.ts';

export interface KnownDialog {
  readonly server: DrachtioConnection;
  /** Dialog ID of the server; empty if the server finds the dialog by Call-ID. */
  readonly id: string;
  readonly callId: string;
  readonly isCall: boolean;
}

/** Maximum number of dialogs. The oldest are evicted, because the server also finds dialogs by Call-ID. */
const MAX_DIALOGS = 40_000;

/** Maps dialogs to their server and its dialog ID. */
export class Dialogs {
  readonly #known = new Map<string, KnownDialog>();

  get size(): number {
    return this.#known.size;
  }

  note(localTag: string | undefined, dialog: KnownDialog): void {
    if (localTag === undefined || dialog.id === '') return;
    const key = keyOf(dialog.callId, localTag);
    const isCall = dialog.isCall || this.#known.get(key)?.isCall === true;
    this.#known.set(key, { ...dialog, isCall });
    if (this.#known.size <= MAX_DIALOGS) return;
    const [oldest] = this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
  }

  /** Dialog of our request. */
  of({ callId, from }: SipMessage): KnownDialog | undefined {
    return this.#known.get(keyOf(callId, from.tag ?? ''));
  }

  /** Removes a dialog. `localTag` is our tag. */
  end(callId: string, localTag: string | undefined): void {
    this.#known.delete(keyOf(callId, localTag ?? ''));
  }

  callsOf(server: DrachtioConnection): readonly KnownDialog[] {
    return [...this.#known.values()].filter((dialog) => dialog.isCall && dialog.server === server);
  }

  forget(server: DrachtioConnection): void {
    for (const [key, dialog] of this.#known) if (dialog.server === server) this.#known.delete(key);
  }
}

const keyOf = (callId: string, localTag: string): string => `${callId}\n${localTag}`;
