import type { Gate } from '../auth/gate.ts';
import type { HeaderInit, SipRequest } from '../message.ts';
import type { Arrival, StatelessAnswer } from '../transaction/stateless.ts';
import type { Flow } from '../transport/flow.ts';
import { CAPABILITIES, insecure, screen } from './capabilities.ts';
import type { DialogUser, UserAgentCore } from './core.ts';
import { dialogId, targetDialog } from './dialog.ts';

const DRAINING_S = 30;
const PAUSED_S = 5;
/** Warning code of RFC 3261 section 20.43. */
const MISCELLANEOUS = 399;
/** Minimum Retry-After during overload, in seconds. A random part is added to spread the retries. */
const OVERLOAD_MIN_S = 5;
const OVERLOAD_SPREAD_S = 10;
const SEED_LIMIT = 2 ** 31;

/** Answers requests that can be refused statelessly (RFC 3261 §8.2, §11.2, §22). */
export class InviteAdmission {
  draining = false;
  /** Reason why new calls are refused at the moment, or undefined if they are accepted. */
  pausedBy: string | undefined;
  #refused: RefusedCalls | undefined;
  readonly #core: UserAgentCore;
  readonly #gate: Gate | undefined;
  readonly #legs: () => number;

  constructor(core: UserAgentCore, gate: Gate | undefined, legs: () => number) {
    this.#core = core;
    this.#gate = gate;
    this.#legs = legs;
  }

  /** Returns a stateless answer, or undefined if the request gets a transaction. */
  answer(request: SipRequest, flow: Flow, arrival: Arrival): StatelessAnswer | undefined {
    const answer = this.#answer(request, flow, arrival);
    if (answer === undefined || answer.status < 300) return answer;
    const { status, why } = answer;
    this.#core.emit({ kind: 'refused', method: request.method, status, why, flow });
    return answer;
  }

  session({ to, from, callId }: SipRequest): DialogUser | undefined {
    return this.#core.dialogs.get(dialogId(callId, to.tag ?? '', from.tag ?? ''));
  }

  /** Session that an out-of-dialog REFER refers to (RFC 7647 §4). */
  targeted(refer: SipRequest): DialogUser | undefined {
    const user = this.#core.dialogs.get(targetDialog(refer) ?? '');
    return user?.targeted === undefined ? undefined : user;
  }

  #answer(request: SipRequest, flow: Flow, arrival: Arrival): StatelessAnswer | undefined {
    const inDialog = request.to.tag !== undefined;
    const refusal = screen(request, inDialog, this.#core.localSentBys) ?? insecure(request, flow);
    if (refusal !== undefined) return { ...refusal, needed: refusal.headers.length };
    if (request.method === 'MESSAGE') return this.#text(request, flow);
    if (inDialog) return this.session(request) === undefined ? NO_DIALOG : undefined;
    switch (request.method) {
      case 'INVITE':
        return this.#noCalls() ?? this.#newCall(request, flow, arrival);
      case 'REGISTER':
        if (this.#gate !== undefined) return this.#gate.screenRequest(request, flow);
        return { status: 405, headers: CAPABILITIES, needed: 1, why: 'no registrar' };
      case 'SUBSCRIBE':
        if (this.#gate !== undefined) return this.#gate.screenRequest(request, flow);
        return { status: 405, headers: CAPABILITIES, needed: 1, why: 'no subscriptions' };
      case 'REFER':
        // A peer without a call cannot make the service place calls (RFC 3515 §4.2).
        return this.targeted(request) === undefined
          ? { status: 403, headers: [], why: 'REFER outside of a dialog' }
          : this.#fromUnknown(request, flow);
      case 'OPTIONS':
        // OPTIONS gets the same status as an INVITE would (§11.2).
        if (this.draining) return tryLater('draining', DRAINING_S, CAPABILITIES);
        return this.#paused(CAPABILITIES) ?? { status: 200, headers: CAPABILITIES, why: '' };
      default:
        return NO_DIALOG;
    }
  }

  /**
   * Checks a MESSAGE. Inside a dialog the same rules apply as outside (RFC 3428 §4): the password identifies the user.
   */
  #text(request: SipRequest, flow: Flow): StatelessAnswer | undefined {
    const { messageMaxBytes } = this.#core.options;
    if (messageMaxBytes === undefined || this.#gate === undefined)
      return { status: 405, headers: CAPABILITIES, needed: 1, why: 'takes no messages' };
    if (request.body.length > messageMaxBytes)
      return { status: 413, headers: [], why: 'message too large' };
    return this.#fromUnknown(request, flow);
  }

  #noCalls(): StatelessAnswer | undefined {
    if (this.#legs() >= this.#core.limits.maxSessions)
      return tryLater('too many calls', DRAINING_S);
    if (this.draining) return tryLater('draining', DRAINING_S);
    return this.#paused();
  }

  #paused(others: HeaderInit = []): StatelessAnswer | undefined {
    const cause = this.pausedBy;
    if (cause === undefined) return undefined;
    const warning = this.#core.warning({ code: MISCELLANEOUS, text: cause });
    return tryLater(cause, PAUSED_S, warning.concat(others));
  }

  /**
   * Checks a new call. Only requests that get a transaction count as started; challenged clients send the request
   * again.
   */
  #newCall(request: SipRequest, flow: Flow, arrival: Arrival): StatelessAnswer | undefined {
    const { newCalls, random } = this.#core.options;
    if (newCalls === undefined) return this.#fromUnknown(request, flow);
    const { nowMs } = this.#core;
    this.#refused ??= new RefusedCalls(random.integer(SEED_LIMIT));
    const print = this.#refused.printOf(request);
    if (this.#refused.has(print, nowMs) || !newCalls.mayBegin(arrival)) {
      this.#refused.add(print, nowMs);
      return tryLater('overload', OVERLOAD_MIN_S + (print % (OVERLOAD_SPREAD_S + 1)));
    }
    const answer = this.#fromUnknown(request, flow);
    if (answer === undefined) newCalls.begin();
    return answer;
  }

  /** Requires authentication, except from a carrier that does not call as a local user. */
  #fromUnknown(request: SipRequest, flow: Flow): StatelessAnswer | undefined {
    if (this.#core.options.trustedSource(flow) !== undefined) return undefined;
    return this.#gate?.screenRequest(request, flow);
  }
}

/** Every 503 has Retry-After: without it, a caller may treat the service as failed (RFC 3261 §21.5.4). */
const tryLater = (why: string, seconds: number, others: HeaderInit = []): StatelessAnswer => ({
  status: 503,
  headers: [['Retry-After', String(seconds)], ...others],
  needed: 1,
  why,
});

const NO_DIALOG: StatelessAnswer = { status: 481, headers: [], why: 'no such dialog' };

/**
 * Recently refused INVITEs. A retransmission after a lost response is refused again, even if calls are accepted by
 * then. Bounded: if two INVITEs share a slot, the later one is kept.
 */

const PLACES = 65_536;
/** Retention in milliseconds: the sender's RFC 3261 Timer B. */
const RETENTION_MS = 32_000;
const PRIME = 0x01000193;

export class RefusedCalls {
  readonly #seed: number;
  #prints: Uint32Array | undefined;
  #untilMs = new Float64Array(0);

  /** `seed` must be unpredictable, so that peers cannot choose colliding requests. */
  constructor(seed: number) {
    this.#seed = seed;
  }

  /** Fingerprint of the request (32 bits); equal for all its retransmissions. */
  printOf(request: SipRequest): number {
    const { branch } = request.via;
    return hash(request.callId, hash(branch ?? '', hash(request.from.tag ?? '', this.#seed)));
  }

  has(print: number, nowMs: number): boolean {
    if (this.#prints === undefined) return false;
    const place = print % PLACES;
    return this.#prints[place] === print && (this.#untilMs[place] ?? 0) > nowMs;
  }

  add(print: number, nowMs: number): void {
    if (this.#prints === undefined) {
      this.#prints = new Uint32Array(PLACES);
      this.#untilMs = new Float64Array(PLACES);
    }
    const place = print % PLACES;
    this.#prints[place] = print;
    this.#untilMs[place] = nowMs + RETENTION_MS;
  }
}

/** FNV-1a over UTF-16 units. */
function hash(text: string, from: number): number {
  let sum = from;
  for (let at = 0; at < text.length; at += 1) sum = Math.imul(sum ^ text.charCodeAt(at), PRIME);
  return sum >>> 0;
}
