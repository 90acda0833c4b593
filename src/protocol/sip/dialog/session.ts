import { noOperation } from '../../../base/no-operation.ts';
import type { HeaderInit, ResponseParts, SipRequest, SipResponse } from '../message.ts';
import type { TransactionId } from '../transaction/types.ts';
import { type Flow, peerOf } from '../transport/flow.ts';
import type { LegEndFacts, LegId, ReferFacts, ReferStep } from '../user-agent-types.ts';
import {
  ALLOW,
  ALLOWED_AND_SUPPORTED,
  answerInfo,
  CAPABILITIES,
  DTMF_RELAY,
  sdpOf,
  writeInfoDigit,
} from './capabilities.ts';
import type { DialogUser, UserAgentCore } from './core.ts';
import { type Dialog, endsDialog } from './dialog.ts';
import { PeerRoute, type PeerRouteOptions } from './peer-route.ts';
import type { Cancel } from './pending.ts';
import { Referring, Refers } from './refer.ts';
import { ReferSubscription } from './refer-subscription.ts';
import { Acceptance } from './reliable.ts';
import { PeerOffers, SessionRefresh } from './session-offers.ts';
import type { SessionTimer } from './session-timer.ts';

/** Callbacks from a session to its leg. */
export interface SessionUser {
  acknowledged(): void;
  /** Called when a request with SDP arrives from a different address than the previous one. */
  movedTo?(flow: Flow, session: Session): void;
  /** Offer from the peer; answer it with `answerOffer` of the session. */
  offered(sdp: string | undefined, session: Session): void;
  answered(sdp: string): void;
  /** ID of the leg. */
  readonly id: LegId;
  referred(refer: ReferFacts, session: Session): void;
  /** Progress of our REFER. */
  stepped(step: ReferStep): void;
  /** Handles a PRACK of the caller. Returns false if it matches no response (481). Undefined on the caller's side. */
  pracked?(request: SipRequest): boolean;
  /** Called after the PRACK has been answered. */
  prackAnswered?(): void;
  dtmf(digit: string, durationMs: number): void;
  /** Called when the peer's WebSocket closes (false), or when the peer sends a request over another one (true). */
  connectionChanged(connected: boolean, session: Session): void;
  /** Called exactly once, unless `bye` was called before. */
  ended(end: LegEndFacts): void;
}

export interface SessionOptions extends PeerRouteOptions {
  readonly dialog: Dialog;
  readonly timer: SessionTimer;
  readonly user: SessionUser;
  readonly isCaller: boolean;
}

/** `early`: no 2xx yet. `closing`: ended for the leg, while its last messages are pending. */
type State = 'early' | 'confirmed' | 'closing' | 'closed';

/** One dialog with its INVITE usage, from the first response to the BYE (RFC 3261 §12 to §15). */
export class Session implements DialogUser {
  readonly dialog: Dialog;
  readonly timer: SessionTimer;
  readonly user: SessionUser;
  readonly route: PeerRoute;
  readonly refresh: SessionRefresh;
  /** True if a local INVITE created the dialog. */
  readonly isCaller: boolean;
  readonly #core: UserAgentCore;
  readonly #offers: PeerOffers;
  #refers: Refers | undefined;
  #referring: Referring | undefined;
  #state: State = 'early';
  #acceptance: Acceptance | undefined;
  #hasAgreed = false;
  #isRenegotiated = false;
  /** Source IP address of the peer's session descriptions. */
  #source: string | undefined;
  #byeHeaders: HeaderInit | undefined;
  #cancelTimer: Cancel = noOperation;

  constructor(core: UserAgentCore, options: SessionOptions) {
    this.#core = core;
    this.dialog = options.dialog;
    this.timer = options.timer;
    this.user = options.user;
    this.route = new PeerRoute(core, options.dialog, options);
    this.isCaller = options.isCaller;
    this.#source = options.flow && peerOf(options.flow).address;
    this.refresh = new SessionRefresh(core, this);
    this.#offers = new PeerOffers(core, this);
    core.dialogs.set(this.dialog.id, this);
  }

  get refers(): Refers {
    this.#refers ??= new Refers(this);
    return this.#refers;
  }

  get referring(): Referring {
    this.#referring ??= new Referring(this.#core, this);
    return this.#referring;
  }

  get isOver(): boolean {
    return this.#state === 'closing' || this.#state === 'closed';
  }

  get isConfirmed(): boolean {
    return this.#state === 'confirmed';
  }

  /**
   * True if offers are allowed: after the 2xx, or after a reliable provisional response completed the first exchange
   * (RFC 3311 §5.1).
   */
  get mayNegotiate(): boolean {
    return this.#state === 'confirmed' || (this.#state === 'early' && this.#hasAgreed);
  }

  /** Records that a reliable provisional response answered the offer of the INVITE. */
  agreed(): void {
    this.#hasAgreed = true;
  }

  /** True once an UPDATE or PRACK has replaced the session that the INVITE offered. */
  get isRenegotiated(): boolean {
    return this.#isRenegotiated;
  }

  renegotiated(): void {
    this.#isRenegotiated = true;
  }

  /** True while our 2xx has not been acknowledged. */
  get awaitsAck(): boolean {
    return this.#acceptance !== undefined;
  }

  /** True while an offer of ours has no answer: that of our INVITE, or that of our 2xx. */
  get awaitsAnswer(): boolean {
    if (this.#acceptance?.expectsAnswer === true) return true;
    return this.isCaller && this.#state === 'early' && !this.#hasAgreed;
  }

  /** Sends our 2xx to an INVITE and repeats it until the ACK arrives. */
  accept(transaction: TransactionId, response: SipResponse, expectsAnswer: boolean): void {
    this.#state = 'confirmed';
    this.refresh.noteLocal(sdpOf(response));
    this.#acceptance = new Acceptance(this.#core, { transaction, response, expectsAnswer }, () =>
      this.#notAcknowledged(),
    );
    this.armTimer();
  }

  /** Handles the peer's 2xx to our INVITE. */
  confirm(response: SipResponse, localSdp: string | undefined): void {
    this.#state = 'confirmed';
    this.dialog.settleRoute(response);
    if (!this.#isRenegotiated) this.refresh.noteLocal(localSdp);
    this.refresh.notePeer(response);
    this.timer.accepted(response, this.#core.nowMs);
    this.armTimer();
  }

  /** Handles a request of the peer inside this dialog. Its extensions and content have been checked. */
  receive(request: SipRequest, transaction: TransactionId, flow: Flow): void {
    if (!this.dialog.receive(request)) {
      this.reply(transaction, request, 500, { reason: 'CSeq Out Of Order' });
      return;
    }
    if (this.route.received(flow) && !this.isOver) this.user.connectionChanged(true, this);
    this.#noteSource(request, flow);
    // A callee must not send BYE before its 2xx (§15).
    if (request.method === 'BYE' && !(this.isCaller && this.#state === 'early')) {
      this.#bye(request, transaction);
    } else if (request.method === 'BYE') this.reply(transaction, request, 481);
    else if (this.isOver) this.reply(transaction, request, 481);
    else if (request.method === 'INVITE') this.#offers.reinvited(request, transaction);
    else if (request.method === 'UPDATE') this.#offers.updated(request, transaction);
    else if (request.method === 'REFER') this.refers.receive(request, transaction);
    else if (request.method === 'PRACK') this.#pracked(request, transaction);
    else if (request.method === 'INFO') this.#info(request, transaction);
    else if (request.method === 'NOTIFY') this.referring.receive(request, transaction);
    else if (request.method === 'OPTIONS') {
      this.reply(transaction, request, 200, { headers: CAPABILITIES });
    } else this.reply(transaction, request, 405, { headers: ALLOW });
  }

  #noteSource(request: SipRequest, flow: Flow): void {
    const { address } = peerOf(flow);
    const mayDescribe = request.method === 'INVITE' || sdpOf(request) !== undefined;
    if (!mayDescribe || address === this.#source) return;
    this.#source = address;
    this.user.movedTo?.(flow, this);
  }

  #pracked(request: SipRequest, transaction: TransactionId): void {
    if (this.user.pracked?.(request) !== true) this.reply(transaction, request, 481);
    else if (sdpOf(request) === undefined) this.reply(transaction, request, 200);
    else this.#offers.pracked(request, transaction);
    this.user.prackAnswered?.();
  }

  connectionLost(connectionId: number): void {
    if (this.route.connectionLost(connectionId) && !this.isOver)
      this.user.connectionChanged(false, this);
  }

  #info(request: SipRequest, transaction: TransactionId): void {
    const { status, parts, press } = answerInfo(request);
    this.reply(transaction, request, status, parts);
    if (press !== undefined) this.user.dtmf(press.digit, press.durationMs);
  }

  /** Handles an ACK to our 2xx. Repeated ACKs to earlier ones are ignored. */
  acknowledged(ack: SipRequest): void {
    const acceptance = this.#acceptance;
    if (acceptance === undefined || ack.cseq.sequence !== acceptance.sequence) return;
    this.#acceptance = undefined;
    acceptance.acknowledged();
    if (this.#byeHeaders !== undefined) {
      this.#sendBye(this.#byeHeaders);
      return;
    }
    if (this.isOver) return;
    const answer = sdpOf(ack);
    if (acceptance.expectsAnswer && answer === undefined) {
      this.#giveUp({ by: 'local', how: 'refused', status: 488, reason: 'No answer in ACK' });
      return;
    }
    if (acceptance.expectsAnswer && answer !== undefined) this.user.answered(answer);
    this.user.acknowledged();
  }

  /** Answers an offer received through `offered`; undefined refuses it. */
  answerOffer(sdp: string | undefined): void {
    this.#offers.answer(sdp);
  }

  /** Ends the session. A callee delays the BYE until its 2xx is acknowledged (§15). */
  bye(headers: HeaderInit): void {
    if (this.isOver) return;
    this.#leave();
    if (this.#acceptance === undefined) this.#sendBye(headers);
    else this.#byeHeaders = headers;
  }

  sendDigit(digit: string, durationMs: number): void {
    if (this.#state !== 'confirmed') return;
    const body = writeInfoDigit(digit, durationMs);
    this.route.send(
      'INFO',
      { headers: [['Content-Type', DTMF_RELAY]], body },
      {
        response: (response) => this.afterFailure(response.status),
        failed: () => this.afterFailure(408),
      },
    );
  }

  /** Ends a dialog that received only provisional responses; sends no message. */
  discard(): void {
    this.#leave();
    this.#close();
  }

  /** Ends the dialog if the failure status requires it, for any request (RFC 5057 §5.1). */
  afterFailure(status: number): void {
    if (endsDialog(status)) this.expire(status);
  }

  /** Ends the session without the peer: the session timer expired, or the peer does not know the dialog. */
  expire(status: number | undefined, dueMs = this.#core.nowMs): void {
    this.#giveUp({ by: 'local', how: 'sessionExpired', status, reason: undefined, dueMs });
  }

  answered(sdp: string): void {
    if (!this.isOver) this.user.answered(sdp);
  }

  offered(sdp: string | undefined): void {
    this.user.offered(sdp, this);
  }

  /** Accepts an out-of-dialog REFER only from the address of this session's peer (RFC 4538 §5). */
  targeted(refer: SipRequest, transaction: TransactionId, flow: Flow): void {
    const subscription = new ReferSubscription(this.#core, refer, flow);
    if (this.route.isFrom(flow)) this.refers.receive(refer, transaction, subscription);
    else subscription.reply(transaction, refer, 403);
  }

  get stage(): 'asked' | 'early' | 'confirmed' | 'over' {
    if (this.isOver) return 'over';
    if (this.isConfirmed) return 'confirmed';
    return this.isCaller ? 'early' : 'asked';
  }

  get leg(): LegId {
    return this.user.id;
  }

  referred(refer: ReferFacts): void {
    this.user.referred(refer, this);
  }

  stepped(step: ReferStep): void {
    if (!this.isOver) this.user.stepped(step);
  }

  /** Header fields of our INVITEs, UPDATEs and their 2xx. */
  inviteHeaders(): HeaderInit {
    const contact: HeaderInit = [['Contact', this.route.contact]];
    return contact.concat(ALLOWED_AND_SUPPORTED);
  }

  reply(
    transaction: TransactionId,
    request: SipRequest,
    status: number,
    parts: ResponseParts = {},
  ): void {
    this.#core.send(transaction, this.response(request, status, parts));
  }

  armTimer(): void {
    this.#cancelTimer();
    const dueMs = this.isOver ? undefined : this.timer.deadlineMs();
    if (dueMs === undefined) return;
    this.#cancelTimer = this.#core.dialogTimers.at(dueMs, () => {
      const due = this.timer.takeDue(this.#core.nowMs);
      if (due?.what === 'expire') this.expire(undefined, due.dueMs);
      else if (due?.what === 'refresh') this.refresh.start();
      this.armTimer();
    });
  }

  response(request: SipRequest, status: number, parts: ResponseParts): SipResponse {
    const { reason, body, headers = [] } = parts;
    const { localTag: toTag } = this.dialog;
    return this.#core.response(request, status, { reason, body, headers, toTag });
  }

  #bye(request: SipRequest, transaction: TransactionId): void {
    this.reply(transaction, request, 200);
    this.#acceptance?.acknowledged();
    this.#acceptance = undefined;
    if (!this.isOver) {
      this.#leave();
      const reason = request.header('reason');
      this.user.ended({ by: 'remote', how: 'bye', status: undefined, reason });
    }
    this.#close();
  }

  #notAcknowledged(): void {
    this.#acceptance = undefined;
    if (this.#byeHeaders === undefined) {
      this.#giveUp({ by: 'remote', how: 'timeout', status: undefined, reason: 'No ACK' });
    } else this.#sendBye(this.#byeHeaders);
  }

  #giveUp(end: LegEndFacts): void {
    if (this.isOver) return;
    this.bye(end.how === 'refused' ? [['Reason', `SIP;cause=${end.status ?? 500}`]] : []);
    this.user.ended(end);
  }

  #sendBye(headers: HeaderInit): void {
    this.#byeHeaders = undefined;
    this.route.send(
      'BYE',
      { headers },
      {
        response: ({ status }) => {
          if (status >= 200) this.#close();
        },
        failed: () => this.#close(),
      },
    );
  }

  #leave(): void {
    // The early dialogs of one INVITE share their timer; the confirmed dialog owns it.
    if (this.#state === 'confirmed') this.timer.stop();
    this.#state = 'closing';
    this.#offers.drop();
    this.#refers?.sessionEnded();
    this.#cancelTimer();
  }

  #close(): void {
    this.#state = 'closed';
    this.#core.dialogs.delete(this.dialog.id);
  }
}
