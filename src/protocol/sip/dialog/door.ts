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
/** Retry-After in an overload: at least this, plus a part that differs, so that not all callers come back at once. */
const OVERLOAD_MIN_S = 5;
const OVERLOAD_SPREAD_S = 10;
const SEED_LIMIT = 2 ** 31;

/** Answers what can be answered at once and for good, so that nothing has to be kept about it (RFC 3261 §8.2, §11.2, §22). */
export class Door {
  draining = false;
  /** Why no new calls are accepted at the moment; undefined while they are. */
  pausedBy: string | undefined;
  /** Of the message that is being handled. */
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

  /** Undefined: the request gets a transaction. */
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

  /** The session that a REFER outside of it is about (RFC 7647 §4). */
  targeted(refer: SipRequest): DialogUser | undefined {
    const user = this.#core.dialogs.get(targetDialog(refer) ?? '');
    return user?.targeted === undefined ? undefined : user;
  }

  #answer(request: SipRequest, flow: Flow): StatelessAnswer | undefined {
    const inDialog = request.to.tag !== undefined;
    const refusal = screen(request, inDialog, this.#core.ownSentBys) ?? insecure(request, flow);
    if (refusal !== undefined) return { ...refusal, needed: refusal.headers.length };
    if (request.method === 'MESSAGE') return this.#text(request, flow);
    if (inDialog) return this.session(request) === undefined ? NO_DIALOG : undefined;
    switch (request.method) {
      case 'INVITE':
        return this.#noCalls() ?? this.#newCall(request, flow);
      case 'REGISTER':
        if (this.#gate !== undefined) return this.#gate.atTheDoor(request, flow);
        return { status: 405, headers: CAPABILITIES, needed: 1, why: 'no registrar' };
      case 'SUBSCRIBE':
        if (this.#gate !== undefined) return this.#gate.atTheDoor(request, flow);
        return { status: 405, headers: CAPABILITIES, needed: 1, why: 'no subscriptions' };
      case 'REFER':
        // Nobody is called for a peer that is in no call (RFC 3515 §4.2).
        return this.targeted(request) === undefined
          ? { status: 403, headers: [], why: 'REFER outside of a dialog' }
          : this.#fromUnknown(request, flow);
      case 'OPTIONS':
        // What an INVITE would get (§11.2).
        if (this.draining) return tryLater('draining', DRAINING_S, CAPABILITIES);
        return this.#paused(CAPABILITIES) ?? { status: 200, headers: CAPABILITIES, why: '' };
      default:
        return NO_DIALOG;
    }
  }

  /** In a dialog it is no other than outside (RFC 3428 §4): the password says whose it is. */
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

  /** Only what gets a transaction is counted as begun: who has to show a password comes again. */
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

  /** A carrier needs no password, unless it calls as a user of ours. */
  #fromUnknown(request: SipRequest, flow: Flow): StatelessAnswer | undefined {
    if (this.#core.options.trustedSource(flow) !== undefined) return undefined;
    return this.#gate?.atTheDoor(request, flow);
  }
}

/** 503 never comes without Retry-After: without one a caller may take us for gone (RFC 3261 §21.5.4). */
const tryLater = (why: string, seconds: number, others: HeaderInit = []): StatelessAnswer => ({
  status: 503,
  headers: [['Retry-After', String(seconds)], ...others],
  needed: 1,
  why,
});

const NO_DIALOG: StatelessAnswer = { status: 481, headers: [], why: 'no such dialog' };
