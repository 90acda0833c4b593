import { noOperation } from '../../../base/no-operation.ts';
import type { HeaderInit, ResponseParts, SipRequest, SipResponse } from '../message.ts';
import { timeout } from '../transaction/timer-values.ts';
import type { TransactionId } from '../transaction/types.ts';
import { sdpOf } from './capabilities.ts';
import type { UserAgentCore } from './core.ts';
import type { Cancel } from './pending.ts';

/** Provisional responses that the caller acknowledges with PRACK (RFC 3262 §3). */

const RELIABLE = '100rel';

export interface ReliableOptions {
  readonly transaction: TransactionId;
  readonly response: (status: number, parts: ResponseParts) => SipResponse;
  /** Called when the caller has acknowledged our answer. From then on both sides may make offers (RFC 3311 §5.1). */
  readonly agreed: () => void;
  /** Called when no PRACK arrived within 64*T1. */
  readonly givenUp: () => void;
}

interface Pending {
  readonly sequence: number;
  readonly response: SipResponse;
  readonly hasSdp: boolean;
}

const FIRST_SEQUENCES = 2 ** 31 - 1;

export class Reliable {
  readonly #core: UserAgentCore;
  readonly #options: ReliableOptions;
  readonly #required: boolean;
  readonly #supported: boolean;
  /** CSeq of the INVITE. */
  readonly #inviteSequence: number;
  readonly #hasOffer: boolean;
  #sequence: number;
  #pending: Pending | undefined;
  /** Latest pending response; it replaces earlier pending ones. */
  #next: { readonly status: number; readonly parts: ResponseParts } | undefined;
  #whenClear: (() => void) | undefined;
  #hasAgreed = false;
  #cancelTimer: Cancel = noOperation;

  /** Keeps no reference to the INVITE, because the object exists as long as the leg. */
  constructor(core: UserAgentCore, invite: SipRequest, options: ReliableOptions) {
    this.#core = core;
    this.#options = options;
    this.#required = invite.tokens('require').includes(RELIABLE);
    this.#supported = this.#required || invite.tokens('supported').includes(RELIABLE);
    this.#inviteSequence = invite.cseq.sequence;
    this.#hasOffer = sdpOf(invite) !== undefined;
    this.#sequence = 0;
  }

  /** True if the caller has acknowledged our answer, so the 2xx carries none. */
  get hasAgreed(): boolean {
    return this.#hasAgreed;
  }

  /**
   * Sends a provisional response. It is reliable if the caller requires it, or if it has early media and the caller
   * supports PRACK. The second response waits for the PRACK to the first (§3).
   */
  send(status: number, parts: ResponseParts): void {
    const hasSdp = parts.body !== undefined;
    const { transaction, response } = this.#options;
    if (!this.#required && !(this.#supported && hasSdp)) {
      this.#core.send(transaction, response(status, parts));
      return;
    }
    // An INVITE without offer requires ours in the first reliable response. The answer in the PRACK is not awaited.
    if (!hasSdp && !this.#hasOffer) return;
    if (this.#pending === undefined) this.#begin(status, parts);
    else this.#next = { status, parts };
  }

  /** Runs `act` when no answer waits for its PRACK; usually immediately. */
  whenClear(act: () => void): void {
    if (this.#pending?.hasSdp === true) this.#whenClear = act;
    else act();
  }

  /** Handles a PRACK. Returns false if it matches no pending response (481). */
  acknowledged(prack: SipRequest): boolean {
    const words = (prack.header('rack') ?? '').trim().split(/[ \t]+/);
    const pending = this.#pending;
    const isOurs =
      words.length === 3 &&
      Number(words[0]) === pending?.sequence &&
      Number(words[1]) === this.#inviteSequence &&
      words[2] === 'INVITE';
    if (!isOurs || pending === undefined) return false;
    this.#cancelTimer();
    this.#pending = undefined;
    if (pending.hasSdp && !this.#hasAgreed) {
      this.#hasAgreed = true;
      this.#options.agreed();
    }
    return true;
  }

  /** Sends the response that waited for the PRACK, after the PRACK has been answered. */
  goOn(): void {
    const [next, act] = [this.#next, this.#whenClear];
    this.#next = undefined;
    this.#whenClear = undefined;
    if (act !== undefined) act();
    else if (next !== undefined) this.#begin(next.status, next.parts);
  }

  /** Stops retransmissions, because a final response has been sent. */
  stop(): void {
    this.#cancelTimer();
    this.#next = undefined;
    this.#whenClear = undefined;
  }

  #begin(status: number, parts: ResponseParts): void {
    const core = this.#core;
    this.#sequence =
      this.#sequence === 0 ? 1 + core.options.random.integer(FIRST_SEQUENCES) : this.#sequence + 1;
    const headers: HeaderInit = [
      ...(parts.headers ?? []),
      ['Require', RELIABLE],
      ['RSeq', String(this.#sequence)],
    ];
    const response = this.#options.response(status, { ...parts, headers });
    this.#pending = { sequence: this.#sequence, response, hasSdp: parts.body !== undefined };
    this.#repeat(core.timers.t1, core.nowMs + timeout(core.timers));
  }

  /** Retransmits after T1, doubling the interval each time (§3). */
  #repeat(intervalMs: number, endMs: number): void {
    const core = this.#core;
    if (this.#pending === undefined) return;
    core.send(this.#options.transaction, this.#pending.response);
    const nextMs = core.nowMs + intervalMs;
    this.#cancelTimer =
      nextMs < endMs
        ? core.dialogTimers.at(nextMs, () => this.#repeat(2 * intervalMs, endMs))
        : core.dialogTimers.at(endMs, () => this.#options.givenUp());
  }
}

/** RSeq of a provisional response that requires PRACK, or undefined if it does not. */
export function reliableSequence(response: SipResponse): number | undefined {
  if (!response.tokens('require').includes(RELIABLE)) return undefined;
  const text = response.header('rseq') ?? '';
  return /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}

/** A pending 2xx to INVITE: repeated until its ACK arrives, abandoned after 64*T1 (RFC 3261 §13.3.1.4). */
export class Acceptance {
  readonly #core: UserAgentCore;
  readonly #transaction: TransactionId;
  readonly #response: SipResponse;
  readonly #givenUp: () => void;
  /** CSeq of the INVITE and of its ACK. */
  readonly sequence: number;
  /** True if the 2xx carries our offer, so the ACK must contain an answer. */
  readonly expectsAnswer: boolean;
  #cancelTimer: Cancel = noOperation;

  constructor(
    core: UserAgentCore,
    accepted: {
      readonly transaction: TransactionId;
      readonly response: SipResponse;
      readonly expectsAnswer: boolean;
    },
    givenUp: () => void,
  ) {
    this.#core = core;
    this.#transaction = accepted.transaction;
    this.#response = accepted.response;
    this.expectsAnswer = accepted.expectsAnswer;
    this.sequence = accepted.response.cseq.sequence;
    this.#givenUp = givenUp;
    const { t1 } = core.timers;
    this.#send(t1, core.nowMs + timeout(core.timers));
  }

  acknowledged(): void {
    this.#cancelTimer();
  }

  #send(intervalMs: number, endMs: number): void {
    const core = this.#core;
    core.send(this.#transaction, this.#response);
    const nextMs = core.nowMs + intervalMs;
    this.#cancelTimer =
      nextMs < endMs
        ? core.dialogTimers.at(nextMs, () =>
            this.#send(Math.min(2 * intervalMs, core.timers.t2), endMs),
          )
        : core.dialogTimers.at(endMs, this.#givenUp);
  }
}
