import { NO_PARAMS } from '../header/text.ts';
import { parseDeltaSeconds, parseTokenWithParams } from '../header/values.ts';
import type { HeaderInit, SipRequest, SipResponse } from '../message.ts';

/** Intervals in seconds. Min-SE is at least 90 (RFC 4028 §4). */
export interface SessionTimerSettings {
  /** Session interval that we request. */
  readonly interval: number;
  /** Shortest interval that we accept. */
  readonly minimum: number;
}

export const DEFAULT_SESSION_TIMER: SessionTimerSettings = { interval: 1800, minimum: 90 };

type Refresher = 'us' | 'peer';

/** Due action: `refresh` sends UPDATE or re-INVITE, `expire` ends the session with BYE (RFC 4028 §10). */
export interface SessionTimerDue {
  readonly what: 'refresh' | 'expire';
  /** Time at which the action was due. */
  readonly dueMs: number;
}

/** Requested session interval, or a refusal: 422 with `minSe` (§9). */
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

/** Min-SE of a request or of a 422 in seconds; 90 if absent (§5). */
function minSe(message: SipRequest | SipResponse): number {
  const text = message.header('min-se');
  const fields = text === undefined ? undefined : parseTokenWithParams(text);
  const value = fields === undefined ? undefined : parseDeltaSeconds(fields.token);
  return Math.max(DEFAULT_SESSION_TIMER.minimum, value ?? 0);
}

/**
 * Session timer of one dialog (RFC 4028). It runs only if the peer supports it (`Supported: timer`). Other peers are
 * monitored only by their media.
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

  /** Header fields of our INVITE or UPDATE. A refresh keeps the negotiated role (§7.4). */
  requestHeaders(): HeaderInit {
    const role =
      this.#refresher === undefined ? '' : `;refresher=${this.#refresher === 'us' ? 'uac' : 'uas'}`;
    return [
      ['Session-Expires', `${this.#interval}${role}`],
      ['Min-SE', String(this.#minimum)],
    ];
  }

  /** Applies the Min-SE of a 422 to the next attempt. Returns false if it would not raise the interval (§7.3). */
  raise(response: SipResponse): boolean {
    const wanted = minSe(response);
    if (wanted <= this.#minimum && wanted <= this.#interval) return false;
    this.#minimum = Math.max(this.#minimum, wanted);
    this.#interval = Math.max(this.#interval, wanted);
    return true;
  }

  /** Handles a peer's request that may start or refresh the session. Call `apply` when its 2xx is sent (§9). */
  offered(request: SipRequest, nowMs: () => number): SessionTimerOffer {
    const requested = sessionExpires(request);
    const peerKnows = request.tokens('supported').includes('timer');
    if (requested !== undefined && requested.interval < this.#settings.minimum && peerKnows) {
      return { kind: 'tooBrief', minSe: this.#settings.minimum };
    }
    if (!peerKnows) return { kind: 'ok', headers: [], apply: () => this.stop() };
    const floor = Math.max(this.#settings.minimum, minSe(request));
    const interval = Math.max(
      floor,
      Math.min(requested?.interval ?? this.#settings.interval, this.#settings.interval),
    );
    const refresher: Refresher = requested?.refresher === 'uas' ? 'us' : 'peer';
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

  /** Handles the 2xx to our request. Without Session-Expires there is no session timer (§7.2). */
  accepted(response: SipResponse, nowMs: number): void {
    const agreed = sessionExpires(response);
    if (agreed === undefined) {
      this.stop();
      return;
    }
    const interval = Math.max(agreed.interval, DEFAULT_SESSION_TIMER.minimum);
    this.#start(interval, agreed.refresher === 'uas' ? 'peer' : 'us', nowMs);
  }

  /** Schedules another refresh after a temporary failure. */
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

  /** Starts the timer: refresh at half the interval (§7.2), BYE a third of it but at most 32 s before its end (§10). */
  #start(interval: number, refresher: Refresher, nowMs: number): void {
    this.#refresher = refresher;
    this.#interval = interval;
    this.#refreshAtMs = refresher === 'us' ? nowMs + (interval / 2) * MS_PER_SECOND : undefined;
    this.#expireAtMs = nowMs + (interval - Math.min(32, interval / 3)) * MS_PER_SECOND;
  }
}
