import type { HeaderInit, ResponseParts, SipRequest, SipResponse } from '../message.ts';
import type { TransactionId } from '../transaction/types.ts';
import { bracketed } from '../uri.ts';
import type { UserAgentCore } from './core.ts';
import type { Dialog } from './dialog.ts';
import { SDP_TYPE, sdpOf } from './sdp-body.ts';
import type { SessionRefresh } from './session-refresh.ts';
import type { SessionTimer } from './session-timer.ts';

/** Session that the offers belong to. */
interface OfferedSession {
  readonly dialog: Dialog;
  readonly timer: SessionTimer;
  readonly refresh: SessionRefresh;
  readonly isConfirmed: boolean;
  readonly mayNegotiate: boolean;
  readonly awaitsAck: boolean;
  offered(sdp: string | undefined): void;
  accept(transaction: TransactionId, response: SipResponse, expectsAnswer: boolean): void;
  armTimer(): void;
  inviteHeaders(): HeaderInit;
  reply(
    transaction: TransactionId,
    request: SipRequest,
    status: number,
    parts?: ResponseParts,
  ): void;
  response(request: SipRequest, status: number, parts: ResponseParts): SipResponse;
}

interface PendingOffer {
  readonly request: SipRequest;
  readonly transaction: TransactionId;
  readonly headers: HeaderInit;
  readonly apply: () => void;
}

/** Handles re-INVITE and UPDATE of the peer: the rules for overlapping offers, and the leg's answer. */
export class PeerOffers {
  readonly #core: UserAgentCore;
  readonly #session: OfferedSession;
  #pending: PendingOffer | undefined;

  constructor(core: UserAgentCore, session: OfferedSession) {
    this.#core = core;
    this.#session = session;
  }

  /** Handles a re-INVITE. RFC 3261 §14.2: 500 while an INVITE of the peer is open, 491 while one of ours is (glare). */
  reinvited(request: SipRequest, transaction: TransactionId): void {
    const session = this.#session;
    if (this.#pending !== undefined || !session.isConfirmed) this.#tryLater(request, transaction);
    else if (session.refresh.isOpen || session.awaitsAck) session.reply(transaction, request, 491);
    else this.#take(request, transaction);
  }

  /** Handles an UPDATE (RFC 3311 §5.2). Without SDP it only refreshes the session and the target. */
  updated(request: SipRequest, transaction: TransactionId): void {
    const session = this.#session;
    if (sdpOf(request) === undefined) this.#refreshed(request, transaction);
    else if (session.refresh.isOpen) session.reply(transaction, request, 491);
    else if (this.#pending !== undefined || !session.mayNegotiate) {
      this.#tryLater(request, transaction);
    } else this.#take(request, transaction);
  }

  /** Handles an offer in an accepted PRACK (RFC 3262 §5). */
  pracked(request: SipRequest, transaction: TransactionId): void {
    const session = this.#session;
    if (this.#pending !== undefined || !session.mayNegotiate) {
      session.reply(transaction, request, 488);
      return;
    }
    this.#pending = { request, transaction, headers: [], apply: () => undefined };
    session.offered(sdpOf(request));
  }

  /** Answers the offer. Undefined sends 488 and leaves the session unchanged (§14.2). */
  answer(sdp: string | undefined): void {
    const session = this.#session;
    const pending = this.#pending;
    this.#pending = undefined;
    if (pending === undefined) return;
    const { request, transaction } = pending;
    if (sdp === undefined) {
      const warning = `304 ${bracketed(this.#core.options.publicHost)} "No usable audio; the session continues unchanged"`;
      session.reply(transaction, request, 488, { headers: [['Warning', warning]] });
      return;
    }
    pending.apply();
    session.armTimer();
    session.dialog.refreshTarget(request);
    const response = session.response(request, 200, {
      headers: [...session.inviteHeaders(), ...pending.headers, ['Content-Type', SDP_TYPE]],
      body: sdp,
    });
    if (request.method === 'INVITE') {
      session.accept(transaction, response, sdpOf(request) === undefined);
      return;
    }
    session.refresh.noteLocal(sdp);
    this.#core.send(transaction, response);
  }

  /** Discards the open offer, because the session ended before the leg answered. */
  drop(): void {
    const pending = this.#pending;
    this.#pending = undefined;
    if (pending !== undefined) this.#session.reply(pending.transaction, pending.request, 487);
  }

  #take(request: SipRequest, transaction: TransactionId): void {
    const timer = this.#session.timer.offered(request, () => this.#core.nowMs);
    if (timer.kind === 'tooBrief') {
      this.#tooBrief(request, transaction, timer.minSe);
      return;
    }
    this.#session.refresh.notePeer(request);
    this.#pending = { request, transaction, headers: timer.headers, apply: timer.apply };
    if (request.method === 'INVITE') {
      this.#core.servers.set(transaction, { cancelled: () => this.drop() });
    }
    this.#session.offered(sdpOf(request));
  }

  #refreshed(request: SipRequest, transaction: TransactionId): void {
    const session = this.#session;
    const timer = session.timer.offered(request, () => this.#core.nowMs);
    if (timer.kind === 'tooBrief') {
      this.#tooBrief(request, transaction, timer.minSe);
      return;
    }
    session.dialog.refreshTarget(request);
    const headers = session.isConfirmed ? timer.headers : [];
    if (session.isConfirmed) timer.apply();
    session.armTimer();
    session.reply(transaction, request, 200, { headers: [...session.inviteHeaders(), ...headers] });
  }

  #tryLater(request: SipRequest, transaction: TransactionId): void {
    this.#session.reply(transaction, request, 500, { headers: this.#core.retryAfter() });
  }

  #tooBrief(request: SipRequest, transaction: TransactionId, minSe: number): void {
    this.#session.reply(transaction, request, 422, { headers: [['Min-SE', String(minSe)]] });
  }
}
