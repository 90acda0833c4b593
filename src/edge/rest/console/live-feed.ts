/** Server-sent events of running calls (HTML standard, 9.2): what every open page of the console is told, once a second. */
import { Readable } from 'node:stream';
import type { Clock } from '../../../base/clock.ts';
import type { AccountId, CallUuid } from '../../../base/ids.ts';
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
  list(): Promise<readonly LiveCall[]>;
  scores(callUuids: readonly CallUuid[]): Promise<ReadonlyMap<CallUuid, number>>;
  show(call: LiveCall, mos: number | undefined): object;
}

export class LiveFeed {
  readonly #needs: LiveFeedNeeds;
  readonly #listeners = new Set<Listener>();
  #cancel: (() => void) | undefined;
  #rounds = 0;
  #isTelling = false;
  #isDue = false;

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
    void this.#tell();
    if (this.#cancel === undefined) this.#again();
    return stream;
  }

  /** Open pages end; a new one begins anew. */
  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    for (const listener of [...this.#listeners]) this.#end(listener);
  }

  #again(): void {
    const { clock } = this.#needs;
    this.#cancel = clock.at(clock.monotonicMs() + EVERY_MS, () => {
      this.#rounds += 1;
      if (this.#rounds % LOOK_ROUNDS === 0) void this.#look();
      void this.#tell();
      this.#again();
    });
  }

  async #look(): Promise<void> {
    for (const listener of [...this.#listeners]) {
      if (!(await listener.isAllowed().catch(() => true))) this.#end(listener);
    }
  }

  #end(listener: Listener): void {
    if (this.#listeners.delete(listener)) listener.stream.push(null);
  }

  /** Never rejects. A round in which calls could not be asked for tells nothing: pages show what they had. */
  async #tell(): Promise<void> {
    this.#isDue = true;
    if (this.#isTelling) return;
    this.#isTelling = true;
    try {
      while (this.#isDue) await this.#tellOnce();
    } catch {
      // The node of a call does not answer: its death is told elsewhere.
    } finally {
      this.#isTelling = false;
    }
  }

  async #tellOnce(): Promise<void> {
    this.#isDue = false;
    const calls = await this.#needs.list();
    const texts = new Map<string, Promise<string>>();
    for (const listener of this.#listeners) {
      const { account } = listener;
      const key = `${account?.accountId ?? ''} ${account?.subAccount ?? ''}`;
      const text = texts.get(key) ?? this.#text(calls, account);
      texts.set(key, text);
      const told = await text;
      // It may have ended meanwhile.
      if (this.#listeners.has(listener)) push(listener, told);
    }
  }

  async #text(calls: readonly LiveCall[], account: Listener['account']): Promise<string> {
    const { scores, show } = this.#needs;
    const seen = calls.filter(
      (call) =>
        account === undefined ||
        (call.accountId === account.accountId &&
          (account.subAccount === undefined || call.subAccount === account.subAccount)),
    );
    const shown = seen.slice(0, MAX_CALLS);
    const mos = await scores(shown.map(({ callUuid }) => callUuid));
    const told = shown.map((call) => show(call, mos.get(call.callUuid)));
    return JSON.stringify({ total: seen.length, calls: told });
  }
}

function push(listener: Listener, text: string): void {
  const { stream } = listener;
  if (stream.readableLength > MAX_BUFFERED) return;
  if (text !== listener.last) {
    listener.last = text;
    listener.quiet = 0;
    stream.push(`event: calls\ndata: ${text}\n\n`);
    return;
  }
  listener.quiet = (listener.quiet + 1) % QUIET_ROUNDS;
  if (listener.quiet === 0) stream.push(': still here\n\n');
}
