import { noOperation } from '../../../base/no-operation.ts';
import type { HeaderInit, ResponseParts, SipRequest, SipResponse } from '../message.ts';
import type { TransactionId } from '../transaction/types.ts';
import { type Flow, peerOf } from '../transport/flow.ts';
import type { LegEndFacts, LegId, ReferFacts, ReferStep } from '../user-agent-types.ts';
import { Acceptance } from './acceptance.ts';
import { ALLOW, ALLOWED_AND_SUPPORTED, CAPABILITIES } from './capabilities.ts';
import type { DialogUser, UserAgentCore } from './core.ts';
import type { Dialog } from './dialog.ts';
import { answerInfo, DTMF_RELAY, writeInfoDigit } from './info.ts';
import { endsDialog } from './leg.ts';
import { PeerOffers } from './peer-offers.ts';
import { PeerRoute, type PeerRouteOptions } from './peer-route.ts';
import { ReferSubscription } from './refer-subscription.ts';
import { Referring } from './referring.ts';
import { Refers } from './refers.ts';
import { sdpOf } from './sdp-body.ts';
import { SessionRefresh } from './session-refresh.ts';
import type { SessionTimer } from './session-timer.ts';
import type { Cancel } from './timers.ts';

/** What the leg hears of its session. */
export interface SessionUser {
  acknowledged(): void;
  /** A request with a description comes from another address than the one before. */
  movedTo?(flow: Flow, session: Session): void;
  /** Answered by `answerOffer` of the session that has it. */
  offered(sdp: string | undefined, session: Session): void;
  answered(sdp: string): void;
  /** The leg that it is. */
  readonly id: LegId;
  referred(refer: ReferFacts, session: Session): void;
  /** What comes of a REFER of ours. */
  stepped(step: ReferStep): void;
  /** A PRACK of the caller; false: it acknowledges nothing (481). Undefined: we are the caller. */
  pracked?(request: SipRequest): boolean;
  /** The PRACK has been answered. */
  prackAnswered?(): void;
  dtmf(digit: string, durationMs: number): void;
  /** The WebSocket of the peer has closed (false), or it has sent a request over another one (true). */
  connectionChanged(connected: boolean): void;
  /** Exactly once, unless `bye` was called before. */
  ended(end: LegEndFacts): void;
}

export interface SessionOptions extends PeerRouteOptions {
  readonly dialog: Dialog;
  readonly timer: SessionTimer;
  readonly user: SessionUser;
  readonly isCaller: boolean;
}

/** `early`: no 2xx yet. `closing`: over for the leg, but its last messages are still on their way. */
type State = 'early' | 'confirmed' | 'closing' | 'closed';

/** One dialog with its INVITE usage: what happens inside it from the first response to the BYE (RFC 3261 §12 to §15). */
export class Session implements DialogUser {
  readonly dialog: Dialog;
  readonly timer: SessionTimer;
  readonly user: SessionUser;
  readonly route: PeerRoute;
  readonly refresh: SessionRefresh;
  /** True when the dialog began with an INVITE of ours. */
  readonly isCaller: boolean;
  readonly #core: UserAgentCore;
  readonly #offers: PeerOffers;
  #refers: Refers | undefined;
  #referring: Referring | undefined;
  #state: State = 'early';
  #acceptance: Acceptance | undefined;
  #hasAgreed = false;
  /** IP address that descriptions of the peer come from. */
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

  /** Offers may be made: after the 2xx, or once a reliable provisional response has settled the first (RFC 3311 §5.1). */
  get mayNegotiate(): boolean {
    return this.#state === 'confirmed' || (this.#state === 'early' && this.#hasAgreed);
  }

  /** A reliable provisional response brought the answer to the offer of the INVITE. */
  agreed(): void {
    this.#hasAgreed = true;
  }

  /** A 2xx of ours is not acknowledged yet. */
  get awaitsAck(): boolean {
    return this.#acceptance !== undefined;
  }

  /** Our 2xx to an INVITE leaves now, and is repeated until its ACK. */
  accept(transaction: TransactionId, response: SipResponse, expectsAnswer: boolean): void {
    this.#state = 'confirmed';
    this.refresh.noteLocal(sdpOf(response));
    this.#acceptance = new Acceptance(this.#core, { transaction, response, expectsAnswer }, () =>
      this.#notAcknowledged(),
    );
    this.armTimer();
  }

  /** The peer's 2xx to our INVITE arrived. */
  confirm(response: SipResponse, localSdp: string | undefined): void {
    this.#state = 'confirmed';
    this.dialog.settleRoute(response);
    this.refresh.noteLocal(localSdp);
    this.refresh.notePeer(response);
    this.timer.accepted(response, this.#core.nowMs);
    this.armTimer();
  }

  /** A request of the peer inside this dialog. Its extensions and content have been checked. */
  receive(request: SipRequest, transaction: TransactionId, flow: Flow): void {
    if (!this.dialog.receive(request)) {
      this.reply(transaction, request, 500, { reason: 'CSeq Out Of Order' });
      return;
    }
    if (this.route.heard(flow) && !this.isOver) this.user.connectionChanged(true);
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
    if (this.route.connectionLost(connectionId) && !this.isOver) this.user.connectionChanged(false);
  }

  #info(request: SipRequest, transaction: TransactionId): void {
    const { status, parts, press } = answerInfo(request);
    this.reply(transaction, request, status, parts);
    if (press !== undefined) this.user.dtmf(press.digit, press.durationMs);
  }

  /** An ACK to a 2xx of ours; those to earlier ones, repeated, are not for us any more. */
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

  /** The answer to `offered`; undefined refuses the offer. */
  answerOffer(sdp: string | undefined): void {
    this.#offers.answer(sdp);
  }

  /** Ends the session. A callee whose 2xx is not acknowledged yet has to wait with its BYE (§15). */
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

  /** Ends a dialog that never got beyond provisional responses, without a message. */
  discard(): void {
    this.#leave();
    this.#close();
  }

  /** A status that ends the dialog, whatever it answers (RFC 5057 §5.1). */
  afterFailure(status: number): void {
    if (endsDialog(status)) this.expire(status);
  }

  /** The peer is gone: its session timer ran out, or it does not know the dialog any more. */
  expire(status: number | undefined, dueMs = this.#core.nowMs): void {
    this.#giveUp({ by: 'local', how: 'sessionExpired', status, reason: undefined, dueMs });
  }

  answered(sdp: string): void {
    if (!this.isOver) this.user.answered(sdp);
  }

  offered(sdp: string | undefined): void {
    this.user.offered(sdp, this);
  }

  /** Only from where the peer of this session is (RFC 4538 §5: whoever knows its tags is, or has heard, one of the two). */
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

  /** Headers of our INVITEs, UPDATEs and their 2xx. */
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
    this.#cancelTimer = this.#core.agenda.at(dueMs, () => {
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
    // The early dialogs of one INVITE share their timer: it belongs to the one that is confirmed.
    if (this.#state === 'confirmed') this.timer.stop();
    this.#state = 'closing';
    this.#offers.drop();
    this.#cancelTimer();
  }

  #close(): void {
    this.#state = 'closed';
    this.#core.dialogs.delete(this.dialog.id);
  }
}
