/** Sends running calls to open console pages as server-sent events (HTML standard, 9.2), once a second, and lists them in pages. */
import { Readable } from 'node:stream';
import type { Clock } from '../../../base/clock.ts';
import type { AccountId, CallUuid } from '../../../base/ids.ts';
import type { Slice } from '../../../base/page.ts';
import type { LiveCall } from '../../../domain/dispatch/types.ts';

const EVERY_MS = 1000;
/** Number of rounds without changes after which a comment line keeps the connection open through proxies. */
const KEEPALIVE_ROUNDS = 15;
/** Number of rounds between two checks that a page is still authorized. */
const RECHECK_ROUNDS = 5;
const MAX_LISTENERS = 200;
const MAX_PER_USER = 10;
/** Buffered bytes above which a page receives no further messages until it has read. */
const MAX_BUFFERED = 256 * 1024;
/** Maximum number of calls in a message. */
const MAX_CALLS = 1000;
/** Maximum number of requests with queued calls in a page. */
const MAX_REQUESTS = 5;

interface Scope {
  readonly accountId: AccountId;
  readonly subAccount: AccountId | undefined;
}

export interface LiveFilter {
  readonly account: Scope | undefined;
  /** Part of a number, or a UUID, in lower case. */
  readonly search: string;
  readonly direction: string | undefined;
  /** Whether the call has an audio stream. */
  readonly hasBot: boolean | undefined;
  /** Queued calls of the account, which are listed like running ones. */
  readonly queued: readonly LiveCall[];
}

export interface LivePage {
  /** Number of calls that match the filter. */
  readonly total: number;
  /** Number of these calls that run. */
  readonly running: number;
  /** The calls of the page, latest start first. */
  readonly calls: readonly object[];
  /** Requests with most queued calls, regardless of the search. */
  readonly requests: readonly { readonly requestUuid: string; readonly queued: number }[];
}

interface Listener {
  readonly stream: Readable;
  readonly userId: string;
  /** Account whose calls are shown; undefined for all accounts. */
  readonly account: Scope | undefined;
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
  #isSending = false;
  #isDue = false;
  /** The calls of the latest listing, which later requests within a second use. */
  #latest: { readonly atMs: number; readonly calls: Promise<readonly LiveCall[]> } | undefined;

  constructor(needs: LiveFeedNeeds) {
    this.#needs = needs;
  }

  /**
   * Opens a stream. Returns undefined if too many pages are open. The stream ends within a few seconds after `isAllowed`
   * returns false.
   */
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
    void this.#sendRound();
    if (this.#cancel === undefined) this.#again();
    return stream;
  }

  /** Returns one page of the running and queued calls that match the filter. Rejects if a node does not answer. */
  async page(filter: LiveFilter, { limit, offset }: Slice): Promise<LivePage> {
    const { scores, show } = this.#needs;
    const own = seenBy([...filter.queued, ...(await this.#list())], filter.account);
    const found = own.filter((call) => matches(call, filter));
    const shown = found.toSorted((a, b) => b.startUs - a.startUs).slice(offset, offset + limit);
    const mos = await scores(shown.map(({ callUuid }) => callUuid));
    const calls = shown.map((call) => show(call, mos.get(call.callUuid)));
    const running = found.filter(({ status }) => status !== 'queued').length;
    return { total: found.length, running, calls, requests: requestsOf(own) };
  }

  #list(): Promise<readonly LiveCall[]> {
    const nowMs = this.#needs.clock.monotonicMs();
    if (this.#latest === undefined || nowMs - this.#latest.atMs >= EVERY_MS) {
      const calls = this.#needs.list();
      this.#latest = { atMs: nowMs, calls };
      calls.catch(() => {
        this.#latest = undefined;
      });
    }
    return this.#latest.calls;
  }

  /** Ends all streams. New pages can open streams afterwards. */
  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    for (const listener of [...this.#listeners]) this.#end(listener);
  }

  #again(): void {
    const { clock } = this.#needs;
    this.#cancel = clock.at(clock.monotonicMs() + EVERY_MS, () => {
      this.#rounds += 1;
      if (this.#rounds % RECHECK_ROUNDS === 0) void this.#recheck();
      void this.#sendRound();
      this.#again();
    });
  }

  async #recheck(): Promise<void> {
    for (const listener of [...this.#listeners]) {
      if (!(await listener.isAllowed().catch(() => true))) this.#end(listener);
    }
  }

  #end(listener: Listener): void {
    if (this.#listeners.delete(listener)) listener.stream.push(null);
  }

  /**
   * Sends one round of updates. Never rejects: if the calls cannot be listed, the round is skipped and pages keep their data.
   */
  async #sendRound(): Promise<void> {
    this.#isDue = true;
    if (this.#isSending) return;
    this.#isSending = true;
    try {
      while (this.#isDue) await this.#sendRoundOnce();
    } catch {
      // Ignores a failed listing, for example when the node of a call does not answer; failed nodes are reported elsewhere.
    } finally {
      this.#isSending = false;
    }
  }

  async #sendRoundOnce(): Promise<void> {
    this.#isDue = false;
    const calls = await this.#needs.list();
    const texts = new Map<string, Promise<string>>();
    for (const listener of this.#listeners) {
      const { account } = listener;
      const key = `${account?.accountId ?? ''} ${account?.subAccount ?? ''}`;
      const text = texts.get(key) ?? this.#text(calls, account);
      texts.set(key, text);
      const described = await text;
      // The stream may have ended during the listing.
      if (this.#listeners.has(listener)) push(listener, described);
    }
  }

  async #text(calls: readonly LiveCall[], account: Listener['account']): Promise<string> {
    const { scores, show } = this.#needs;
    const seen = seenBy(calls, account);
    const shown = seen.slice(0, MAX_CALLS);
    const mos = await scores(shown.map(({ callUuid }) => callUuid));
    const described = shown.map((call) => show(call, mos.get(call.callUuid)));
    return JSON.stringify({ total: seen.length, calls: described });
  }
}

const seenBy = (calls: readonly LiveCall[], account: Scope | undefined): readonly LiveCall[] =>
  account === undefined
    ? calls
    : calls.filter(
        (call) =>
          call.accountId === account.accountId &&
          (account.subAccount === undefined || call.subAccount === account.subAccount),
      );

const matches = (call: LiveCall, { search, direction, hasBot }: LiveFilter): boolean =>
  (direction === undefined || call.direction === direction) &&
  (hasBot === undefined || call.bots.length > 0 === hasBot) &&
  (search === '' ||
    [call.from, call.to, call.callUuid, call.requestUuid ?? '', call.callerName].some((text) =>
      text.toLowerCase().includes(search),
    ));

function requestsOf(calls: readonly LiveCall[]): LivePage['requests'] {
  const queued = new Map<string, number>();
  for (const { status, requestUuid } of calls) {
    if (status === 'queued' && requestUuid !== undefined)
      queued.set(requestUuid, (queued.get(requestUuid) ?? 0) + 1);
  }
  return [...queued]
    .sort(([, a], [, b]) => b - a)
    .slice(0, MAX_REQUESTS)
    .map(([requestUuid, count]) => ({ requestUuid, queued: count }));
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
  listener.quiet = (listener.quiet + 1) % KEEPALIVE_ROUNDS;
  if (listener.quiet === 0) stream.push(': still here\n\n');
}
