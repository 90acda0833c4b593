import { noOperation } from '../../../base/no-operation.ts';
import type { HeaderInit, ResponseParts, SipRequest, SipResponse } from '../message.ts';
import type { TransactionId } from '../transaction/types.ts';
import type { UserAgentOutput } from '../user-agent-types.ts';
import { SDP_TYPE, sdpOf } from './capabilities.ts';
import type { UserAgentCore } from './core.ts';
import type { Dialog } from './dialog.ts';
import type { OutgoingRequest } from './outgoing-request.ts';
import type { PeerRoute } from './peer-route.ts';
import type { Replier } from './replier.ts';
import type { SessionTimer } from './session-timer.ts';

/** Session to be refreshed. */
interface RefreshedSession {
  readonly dialog: Dialog;
  readonly timer: SessionTimer;
  readonly route: PeerRoute;
  readonly isCaller: boolean;
  readonly isOver: boolean;
  answered(sdp: string): void;
  expire(status: number): void;
  afterFailure(status: number): void;
  armTimer(): void;
  inviteHeaders(): HeaderInit;
}

/** Delay in milliseconds before a refresh is retried after a temporary failure. */
const RETRY_MS = 10_000;
/** Maximum number of immediate retries after a 422; more wait like those after other failures. */
const MAX_INTERVAL_RETRIES = 2;

/** Sends session refreshes (RFC 4028 §7.4): UPDATE if the peer allows it, otherwise a re-INVITE with the same SDP. */
export class SessionRefresh {
  readonly #core: UserAgentCore;
  readonly #session: RefreshedSession;
  #localSdp: string | undefined;
  #remoteSdp: string | undefined;
  #peerUpdates = false;
  /** Immediate retries since the last 2xx. */
  #intervalRetries = 0;
  #reinvite: OutgoingRequest | undefined;
  #ack: Extract<UserAgentOutput, { kind: 'send' }> | undefined;

  constructor(core: UserAgentCore, session: RefreshedSession) {
    this.#core = core;
    this.#session = session;
  }

  /** True while a local re-INVITE has no final response. */
  get isOpen(): boolean {
    return this.#reinvite !== undefined;
  }

  noteLocal(sdp: string | undefined): void {
    this.#localSdp = sdp ?? this.#localSdp;
  }

  notePeer(message: SipRequest | SipResponse): void {
    if (message.header('allow') !== undefined) {
      this.#peerUpdates = message.tokens('allow').includes('update');
    }
    this.#remoteSdp = sdpOf(message) ?? this.#remoteSdp;
  }

  start(): void {
    if (this.isOpen) return;
    if (this.#peerUpdates) this.#update();
    else this.#invite();
  }

  #update(): void {
    const session = this.#session;
    session.route.send(
      'UPDATE',
      { headers: [...session.inviteHeaders(), ...session.timer.requestHeaders()] },
      {
        response: (response) => {
          if (response.status === 405 || response.status === 501) this.#peerUpdates = false;
          this.#finished(response);
        },
        failed: () => session.expire(408),
      },
    );
  }

  #invite(): void {
    const session = this.#session;
    if (this.#localSdp === undefined) return;
    const headers = [
      ...session.inviteHeaders(),
      ...session.timer.requestHeaders(),
      ['Content-Type', SDP_TYPE] as const,
    ];
    this.#ack = undefined;
    const outgoing = session.route.send(
      'INVITE',
      { headers, body: this.#localSdp },
      {
        response: (response) => this.#reinviteAnswered(outgoing, response),
        failed: () => {
          this.#reinvite = undefined;
          session.expire(408);
        },
      },
    );
    this.#reinvite = outgoing;
  }

  #reinviteAnswered(outgoing: OutgoingRequest, response: SipResponse): void {
    if (response.status < 200) return;
    if (response.status >= 300) {
      this.#reinvite = undefined;
      this.#finished(response);
      return;
    }
    if (this.#ack !== undefined) {
      this.#core.emit(this.#ack);
      return;
    }
    const { sequence } = outgoing.request.cseq;
    this.#session.route.acknowledge({ sequence }, (ack) => {
      this.#ack = ack;
    });
    if (this.#reinvite === undefined) return;
    this.#reinvite = undefined;
    const answer = sdpOf(response);
    const changed = answer !== undefined && answer !== this.#remoteSdp;
    this.notePeer(response);
    if (changed) this.#session.answered(answer);
    this.#finished(response);
  }

  #finished(response: SipResponse): void {
    const session = this.#session;
    const { status } = response;
    if (status < 200 || session.isOver) return;
    if (status < 300) {
      this.#intervalRetries = 0;
      session.dialog.refreshTarget(response);
      session.timer.accepted(response, this.#core.nowMs);
    } else if (status === 422 && session.timer.raise(response) && this.#mayRetry()) this.start();
    else session.timer.retryRefresh(this.#core.nowMs + this.#retryDelayMs(status));
    session.armTimer();
    session.afterFailure(status);
  }

  #mayRetry(): boolean {
    this.#intervalRetries += 1;
    return this.#intervalRetries <= MAX_INTERVAL_RETRIES;
  }

  /** Delay after glare (§14.1) in milliseconds: 2.1 to 4 s for the owner of the Call-ID, up to 2 s for the other side. */
  #retryDelayMs(status: number): number {
    if (status !== 491) return RETRY_MS;
    const { random } = this.#core.options;
    return this.#session.isCaller ? 2_100 + 10 * random.integer(191) : 10 * random.integer(201);
  }
}

/** Session that the offers belong to. */
interface OfferedSession extends Replier {
  readonly dialog: Dialog;
  readonly timer: SessionTimer;
  readonly refresh: SessionRefresh;
  readonly isConfirmed: boolean;
  readonly mayNegotiate: boolean;
  readonly awaitsAck: boolean;
  readonly awaitsAnswer: boolean;
  offered(sdp: string | undefined): void;
  renegotiated(): void;
  accept(transaction: TransactionId, response: SipResponse, expectsAnswer: boolean): void;
  armTimer(): void;
  inviteHeaders(): HeaderInit;
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

  /**
   * Handles an UPDATE (RFC 3311 §5.2): 491 while an offer of ours has no answer, 500 while one of the peer has none.
   * Without SDP it only refreshes the session and the target.
   */
  updated(request: SipRequest, transaction: TransactionId): void {
    const session = this.#session;
    if (sdpOf(request) === undefined) this.#refreshed(request, transaction);
    else if (session.refresh.isOpen || session.awaitsAnswer) {
      session.reply(transaction, request, 491);
    } else if (this.#pending !== undefined || !session.mayNegotiate) {
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
    this.#pending = { request, transaction, headers: [], apply: noOperation };
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
      const warning = { code: 304, text: 'No usable audio; the session continues unchanged' };
      session.reply(transaction, request, 488, { headers: this.#core.warning(warning) });
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
    session.renegotiated();
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
    this.#pending = { request, transaction, ...this.#timedBy(timer) };
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
    const { headers, apply } = this.#timedBy(timer);
    apply();
    session.armTimer();
    session.reply(transaction, request, 200, { headers: [...session.inviteHeaders(), ...headers] });
  }

  /** An UPDATE before the 2xx starts no session timer: the session that it would end does not exist yet. */
  #timedBy({ headers, apply }: Pick<PendingOffer, 'headers' | 'apply'>) {
    return this.#session.isConfirmed ? { headers, apply } : { headers: [], apply: noOperation };
  }

  #tryLater(request: SipRequest, transaction: TransactionId): void {
    this.#session.reply(transaction, request, 500, { headers: this.#core.retryAfter() });
  }

  #tooBrief(request: SipRequest, transaction: TransactionId, minSe: number): void {
    this.#session.reply(transaction, request, 422, { headers: [['Min-SE', String(minSe)]] });
  }
}
