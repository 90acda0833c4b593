/** Server-sent events of running calls (HTML standard, 9.2): what every open page of the console is told, once a second. */
import { Readable } from 'node:stream';
import type { Clock } from '../../../base/clock.ts';
import type { AccountId } from '../../../base/ids.ts';
import type { LiveCall } from '../../../domain/dispatch/types.ts';

const EVERY_MS = 1000;
/** A line that says nothing keeps connections of proxies open. */
const QUIET_ROUNDS = 15;
/** So often it is looked whether a page may still be told. */
const LOOK_ROUNDS = 5;
const MAX_LISTENERS = 200;
const MAX_PER_USER = 10;
/** A page that does not read is told nothing until it has. */
const MAX_BUFFERED = 256 * 1024;
/** Calls within one message. */
const MAX_CALLS = 1000;

interface Listener {
  readonly stream: Readable;
  readonly userId: string;
  /** Undefined: of all accounts. */
  readonly account:
    | { readonly accountId: AccountId; readonly subAccount: AccountId | undefined }
    | undefined;
  readonly isAllowed: () => Promise<boolean>;
  last: string;
  quiet: number;
}

export type Asking = Pick<Listener, 'userId' | 'account' | 'isAllowed'>;

export interface LiveFeedNeeds {
  readonly clock: Pick<Clock, 'at' | 'monotonicMs'>;
  list(): readonly LiveCall[];
  show(call: LiveCall): object;
}

export class LiveFeed {
  readonly #needs: LiveFeedNeeds;
  readonly #listeners = new Set<Listener>();
  #cancel: (() => void) | undefined;
  #rounds = 0;

  constructor(needs: LiveFeedNeeds) {
    this.#needs = needs;
  }

  /** Undefined: too many pages are open. The stream ends when `isAllowed` says so, a few seconds later at the most. */
  listen({ userId, account, isAllowed }: Asking): Readable | undefined {
    const own = [...this.#listeners].filter((listener) => listener.userId === userId);
    if (this.#listeners.size >= MAX_LISTENERS || own.length >= MAX_PER_USER) return undefined;
    const stream = new Readable({ read: () => undefined, highWaterMark: MAX_BUFFERED });
    const listener: Listener = { stream, userId, account, isAllowed, last: '', quiet: 0 };
    this.#listeners.add(listener);
    stream.once('close', () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.stop();
    });
    this.#tell();
    if (this.#cancel === undefined) this.#again();
    return stream;
  }

  /** Open pages end; a new one begins anew. */
  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    for (const { stream } of this.#listeners) stream.push(null);
  }

  #again(): void {
    const { clock } = this.#needs;
    this.#cancel = clock.at(clock.monotonicMs() + EVERY_MS, () => {
      this.#rounds += 1;
      if (this.#rounds % LOOK_ROUNDS === 0) void this.#look();
      this.#tell();
      this.#again();
    });
  }

  async #look(): Promise<void> {
    for (const { stream, isAllowed } of [...this.#listeners]) {
      if (!(await isAllowed().catch(() => true))) stream.push(null);
    }
  }

  #tell(): void {
    const calls = this.#needs.list();
    const texts = new Map<string, string>();
    for (const listener of this.#listeners) {
      const { account, stream } = listener;
      const key = `${account?.accountId ?? ''} ${account?.subAccount ?? ''}`;
      const text = texts.get(key) ?? this.#text(calls, account);
      texts.set(key, text);
      if (stream.readableLength > MAX_BUFFERED) continue;
      if (text !== listener.last) {
        listener.last = text;
        listener.quiet = 0;
        stream.push(`event: calls\ndata: ${text}\n\n`);
      } else {
        listener.quiet = (listener.quiet + 1) % QUIET_ROUNDS;
        if (listener.quiet === 0) stream.push(': still here\n\n');
      }
    }
  }

  #text(calls: readonly LiveCall[], account: Listener['account']): string {
    const seen = calls.filter(
      (call) =>
        account === undefined ||
        (call.accountId === account.accountId &&
          (account.subAccount === undefined || call.subAccount === account.subAccount)),
    );
    const shown = seen.slice(0, MAX_CALLS).map((call) => this.#needs.show(call));
    return JSON.stringify({ total: seen.length, calls: shown });
  }
}
