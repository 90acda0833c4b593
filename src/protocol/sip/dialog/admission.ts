import type { Gate } from '../auth/gate.ts';
import { quote } from '../header/text.ts';
import type { HeaderInit, SipRequest } from '../message.ts';
import type { StatelessAnswer } from '../transaction/stateless.ts';
import type { Flow } from '../transport/flow.ts';
import { bracketed } from '../uri.ts';
import { CAPABILITIES } from './capabilities.ts';
import type { DialogUser, UserAgentCore } from './core.ts';
import { dialogId } from './dialog.ts';
import type { Asking } from './new-call-gate.ts';
import { RefusedCalls } from './refused-calls.ts';
import { targetDialog } from './replaces.ts';
import { insecure, screen } from './screen.ts';

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
  /** Facts about the message being handled. */
  asking: Asking = { waitedMs: 0, isKnown: true };
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
  answer(request: SipRequest, flow: Flow): StatelessAnswer | undefined {
    const answer = this.#answer(request, flow);
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

  #answer(request: SipRequest, flow: Flow): StatelessAnswer | undefined {
    const inDialog = request.to.tag !== undefined;
    const refusal = screen(request, inDialog, this.#core.localSentBys) ?? insecure(request, flow);
    if (refusal !== undefined) return { ...refusal, needed: refusal.headers.length };
    if (request.method === 'MESSAGE') return this.#text(request, flow);
    if (inDialog) return this.session(request) === undefined ? NO_DIALOG : undefined;
    switch (request.method) {
      case 'INVITE':
        return this.#noCalls() ?? this.#newCall(request, flow);
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
    const host = bracketed(this.#core.options.publicHost);
    const warning = [['Warning', `${MISCELLANEOUS} ${host} ${quote(cause)}`]] as const;
    return tryLater(cause, PAUSED_S, [...warning, ...others]);
  }

  /**
   * Checks a new call. Only requests that get a transaction count as started; challenged clients send the request
   * again.
   */
  #newCall(request: SipRequest, flow: Flow): StatelessAnswer | undefined {
    const { newCalls, random } = this.#core.options;
    if (newCalls === undefined) return this.#fromUnknown(request, flow);
    const { nowMs } = this.#core;
    this.#refused ??= new RefusedCalls(random.integer(SEED_LIMIT));
    const print = this.#refused.printOf(request);
    if (this.#refused.has(print, nowMs) || !newCalls.mayBegin(this.asking)) {
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
