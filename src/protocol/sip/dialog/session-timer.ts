import { NO_PARAMS } from '../header/text.ts';
import { parseDeltaSeconds, parseTokenWithParams } from '../header/values.ts';
import type { HeaderInit, SipRequest, SipResponse } from '../message.ts';

/** Seconds. RFC 4028 §4: no Min-SE below 90. */
export interface SessionTimerSettings {
  /** What we ask for. */
  readonly interval: number;
  /** The least we accept. */
  readonly minimum: number;
}

export const DEFAULT_SESSION_TIMER: SessionTimerSettings = { interval: 1800, minimum: 90 };

type Refresher = 'us' | 'peer';

/** What is due: `refresh` sends UPDATE or re-INVITE, `expire` ends the session with BYE (RFC 4028 §10). */
export interface SessionTimerDue {
  readonly what: 'refresh' | 'expire';
  /** When it was due. */
  readonly dueMs: number;
}

/** What a request asked for, or why it is refused: 422 with `minSe` (§9). */
export type SessionTimerOffer =
  | { readonly kind: 'tooBrief'; readonly minSe: number }
  | { readonly kind: 'ok'; readonly headers: HeaderInit; readonly apply: () => void };

const MS_PER_SECOND = 1000;

interface SessionExpires {
  readonly interval: number;
  readonly refresher: 'uac' | 'uas' | undefined;
}

function sessionExpires(message: SipRequest | SipResponse): SessionExpires | undefined {
  const text = message.header('session-expires');
  const fields = text === undefined ? undefined : parseTokenWithParams(text);
  const interval = fields === undefined ? undefined : parseDeltaSeconds(fields.token);
  if (interval === undefined) return undefined;
  const refresher = (fields?.params ?? NO_PARAMS).get('refresher')?.toLowerCase();
  return {
    interval,
    refresher: refresher === 'uac' || refresher === 'uas' ? refresher : undefined,
  };
}

/** Min-SE of a request or of a 422, seconds; 90 when absent (§5). */
function minSe(message: SipRequest | SipResponse): number {
  const text = message.header('min-se');
  const fields = text === undefined ? undefined : parseTokenWithParams(text);
  const value = fields === undefined ? undefined : parseDeltaSeconds(fields.token);
  return Math.max(DEFAULT_SESSION_TIMER.minimum, value ?? 0);
}

/**
 * The session timer of one dialog (RFC 4028). It runs only with a peer that knows it (`Supported: timer`): the
 * others are watched by their media alone.
 */
export class SessionTimer {
  readonly #settings: SessionTimerSettings;
  #interval: number;
  #minimum: number;
  #refresher: Refresher | undefined;
  #refreshAtMs: number | undefined;
  #expireAtMs: number | undefined;

  constructor(settings: SessionTimerSettings) {
    this.#settings = settings;
    this.#interval = settings.interval;
    this.#minimum = settings.minimum;
  }

  /** Headers of an INVITE or UPDATE of ours. A refresh keeps the role that was agreed (§7.4). */
  requestHeaders(): HeaderInit {
    const role =
      this.#refresher === undefined ? '' : `;refresher=${this.#refresher === 'us' ? 'uac' : 'uas'}`;
    return [
      ['Session-Expires', `${this.#interval}${role}`],
      ['Min-SE', String(this.#minimum)],
    ];
  }

  /** Takes the Min-SE of a 422 for the next attempt; false when there is nothing left to raise (§7.3). */
  raise(response: SipResponse): boolean {
    const wanted = minSe(response);
    if (wanted <= this.#minimum && wanted <= this.#interval) return false;
    this.#minimum = Math.max(this.#minimum, wanted);
    this.#interval = Math.max(this.#interval, wanted);
    return true;
  }

  /** A request of the peer that may start or refresh the session; `apply` is called when its 2xx goes out (§9). */
  offered(request: SipRequest, nowMs: () => number): SessionTimerOffer {
    const asked = sessionExpires(request);
    const peerKnows = request.tokens('supported').includes('timer');
    if (asked !== undefined && asked.interval < this.#settings.minimum && peerKnows) {
      return { kind: 'tooBrief', minSe: this.#settings.minimum };
    }
    if (!peerKnows) return { kind: 'ok', headers: [], apply: () => this.stop() };
    const floor = Math.max(this.#settings.minimum, minSe(request));
    const interval = Math.max(
      floor,
      Math.min(asked?.interval ?? this.#settings.interval, this.#settings.interval),
    );
    const refresher: Refresher = asked?.refresher === 'uas' ? 'us' : 'peer';
    const role = refresher === 'us' ? 'uas' : 'uac';
    return {
      kind: 'ok',
      headers: [
        ...(refresher === 'peer' ? ([['Require', 'timer']] as const) : []),
        ['Session-Expires', `${interval};refresher=${role}`],
      ],
      apply: () => this.#start(interval, refresher, nowMs()),
    };
  }

  /** The 2xx to a request of ours. Without Session-Expires the peer has no timer and there is none (§7.2). */
  accepted(response: SipResponse, nowMs: number): void {
    const agreed = sessionExpires(response);
    if (agreed === undefined) {
      this.stop();
      return;
    }
    const interval = Math.max(agreed.interval, DEFAULT_SESSION_TIMER.minimum);
    this.#start(interval, agreed.refresher === 'uas' ? 'peer' : 'us', nowMs);
  }

  /** Tries again a while after a refresh that failed for a passing reason. */
  retryRefresh(atMs: number): void {
    if (this.#refresher === 'us' && (this.#expireAtMs ?? 0) > atMs) this.#refreshAtMs = atMs;
  }

  stop(): void {
    this.#refresher = undefined;
    this.#refreshAtMs = undefined;
    this.#expireAtMs = undefined;
  }

  takeDue(nowMs: number): SessionTimerDue | undefined {
    const [expireMs, refreshMs] = [this.#expireAtMs, this.#refreshAtMs];
    if (expireMs !== undefined && expireMs <= nowMs) {
      this.stop();
      return { what: 'expire', dueMs: expireMs };
    }
    if (refreshMs !== undefined && refreshMs <= nowMs) {
      this.#refreshAtMs = undefined;
      return { what: 'refresh', dueMs: refreshMs };
    }
    return undefined;
  }

  deadlineMs(): number | undefined {
    if (this.#refreshAtMs === undefined) return this.#expireAtMs;
    return Math.min(this.#refreshAtMs, this.#expireAtMs ?? this.#refreshAtMs);
  }

  /** Refresh at half the interval (§7.2); BYE a third of it, at most 32 s, before its end (§10). */
  #start(interval: number, refresher: Refresher, nowMs: number): void {
    this.#refresher = refresher;
    this.#interval = interval;
    this.#refreshAtMs = refresher === 'us' ? nowMs + (interval / 2) * MS_PER_SECOND : undefined;
    this.#expireAtMs = nowMs + (interval - Math.min(32, interval / 3)) * MS_PER_SECOND;
  }
}
