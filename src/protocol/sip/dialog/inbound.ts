import { assert } from '../../../base/errors.ts';
import { noOperation } from '../../../base/no-operation.ts';
import type { HeaderInit, ResponseParts, SipRequest } from '../message.ts';
import type { TransactionId } from '../transaction/types.ts';
import type { Flow } from '../transport/flow.ts';
import type {
  DestinationGuard,
  HangupCommand,
  LegEndFacts,
  LegId,
  ReferFacts,
  ReferStep,
} from '../user-agent-types.ts';
import { SDP_TYPE, sdpOf } from './capabilities.ts';
import type { ServerUser, UserAgentCore } from './core.ts';
import {
  cancelledBy,
  Dialog,
  type Leg,
  type ReferRequest,
  reasonHeaders,
  replacedLeg,
} from './dialog.ts';
import type { Cancel } from './pending.ts';
import { Reliable } from './reliable.ts';
import { Session, type SessionUser } from './session.ts';
import { DEFAULT_SESSION_TIMER, SessionTimer } from './session-timer.ts';

/** Interval for repeating provisional responses in milliseconds, so that proxies do not time out (RFC 3261 §13.3.1.1). */
const PROVISIONAL_REPEAT_MS = 60_000;
const MS_PER_SECOND = 1000;
const CONTENT_TYPE = ['Content-Type', SDP_TYPE] as const;
/** Retry-After of a 503 refusal, in seconds. */
const TRY_LATER_S = '5';

export interface InboundLegOptions {
  readonly id: LegId;
  readonly request: SipRequest;
  readonly transaction: TransactionId;
  readonly flow: Flow;
  readonly viaFlow: boolean;
  readonly guard: DestinationGuard | undefined;
  /** Authenticated user of the phone. */
  readonly username: string | undefined;
  /** Callback for the end of the leg, called once. Its last messages may still be pending. */
  readonly ended: () => void;
}

/** Callee's side of a call, from an admitted INVITE to the end of its session (RFC 3261 §13.3). */
export class InboundLeg implements Leg, ServerUser, SessionUser {
  readonly #core: UserAgentCore;
  readonly #options: Omit<InboundLegOptions, 'request'>;
  /** INVITE until its final response, then undefined. */
  #request: SipRequest | undefined;
  readonly #session: Session;
  #timer: { readonly headers: HeaderInit; readonly apply: () => void } | undefined;
  readonly #reliable: Reliable;
  #open = true;
  #answering = false;
  #over = false;
  #cancelRepeat: Cancel = noOperation;
  #cancelExpiry: Cancel = noOperation;

  /** Starts a leg. If the session interval is too short, answers 422 and returns undefined. */
  static begin(core: UserAgentCore, options: InboundLegOptions): InboundLeg | undefined {
    const timer = new SessionTimer(core.options.sessionTimer ?? DEFAULT_SESSION_TIMER);
    const offer = timer.offered(options.request, () => core.nowMs);
    if (offer.kind === 'tooBrief') {
      const headers = [['Min-SE', String(offer.minSe)]] as const;
      core.respond(options.transaction, options.request, 422, { headers });
      return undefined;
    }
    return new InboundLeg(core, options, timer, offer);
  }

  private constructor(
    core: UserAgentCore,
    options: InboundLegOptions,
    timer: SessionTimer,
    offer: { readonly headers: HeaderInit; readonly apply: () => void },
  ) {
    const { id, request, transaction, flow, viaFlow, guard, username, ended } = options;
    this.#core = core;
    this.#options = { id, transaction, flow, viaFlow, guard, username, ended };
    this.#request = request;
    this.#timer = offer;
    const dialog = Dialog.fromRequest(request, core.newToken(), core.options.random.integer(1000));
    this.#session = new Session(core, {
      dialog,
      timer,
      user: this,
      auth: undefined,
      flow,
      viaFlow,
      guard,
      username,
      isCaller: false,
    });
    this.#session.refresh.notePeer(request);
    this.#reliable = new Reliable(core, request, {
      transaction: options.transaction,
      response: (status, parts) => this.#session.response(this.#invite, status, parts),
      agreed: () => this.#session.agreed(),
      givenUp: () => this.#notAcknowledged(),
    });
    core.servers.set(options.transaction, this);
    const { expires } = request;
    if (expires !== undefined && expires > 0) {
      this.#cancelExpiry = core.dialogTimers.at(core.nowMs + expires * MS_PER_SECOND, () =>
        this.#expire(),
      );
    }
  }

  get #invite(): SipRequest {
    assert(this.#request !== undefined, 'an INVITE has one final response');
    return this.#request;
  }

  get localTag(): string {
    return this.#session.dialog.localTag;
  }

  get dialog(): Dialog {
    return this.#session.dialog;
  }

  ring(sdp: string | undefined): void {
    if (!this.#open || this.#answering) return;
    this.#cancelRepeat();
    const early = sdpOf(this.#invite) === undefined ? undefined : sdp;
    this.#provisional(early);
    this.#cancelRepeat = this.#core.dialogTimers.at(this.#core.nowMs + PROVISIONAL_REPEAT_MS, () =>
      this.ring(sdp),
    );
  }

  answer(sdp: string): void {
    if (!this.#open || this.#answering) return;
    this.#answering = true;
    // A 2xx waits for the PRACK of an answer in early media (RFC 3262 §3).
    this.#reliable.whenClear(() => this.#accept(sdp));
  }

  #accept(sdp: string): void {
    if (!this.#open) return;
    const [request, timer] = [this.#invite, this.#timer];
    this.#close();
    const { transaction } = this.#options;
    timer?.apply();
    const headers = this.#session.inviteHeaders().concat(timer?.headers ?? []);
    // Offer and answer are complete. A 2xx that repeats the answer could be interpreted as an offer (RFC 6337 §2.1).
    const parts: ResponseParts = this.#reliable.hasAgreed
      ? { headers }
      : { headers: headers.concat([CONTENT_TYPE]), body: sdp };
    const response = this.#session.response(request, 200, parts);
    this.#session.accept(transaction, response, sdpOf(request) === undefined);
    if (!this.#session.isRenegotiated) this.#session.refresh.noteLocal(sdp);
  }

  hangup(command: HangupCommand): void {
    if (this.#over) return;
    const { status } = command;
    if (this.#open) {
      const headers = [...reasonHeaders(command.reason), ...this.#core.warning(command.warning)];
      this.#refuse(status, headers, command.phrase);
      this.#end({ by: 'local', how: 'refused', status, reason: command.reason });
      return;
    }
    this.#session.bye(reasonHeaders(command.reason));
    this.#end({ by: 'local', how: 'bye', status: undefined, reason: command.reason });
  }

  sendDigit(digit: string, durationMs: number): void {
    this.#session.sendDigit(digit, durationMs);
  }

  answerOffer(sdp: string | undefined): void {
    this.#session.answerOffer(sdp);
  }

  /** Handles a CANCEL. It has no effect after the 2xx (§9.2). */
  cancelled(request: SipRequest): void {
    if (!this.#open) return;
    this.#refuse(487, []);
    this.#end(cancelledBy(request));
  }

  acknowledged(): void {
    this.#core.emit({ kind: 'acknowledged', leg: this.#options.id });
  }

  pracked(request: SipRequest): boolean {
    return this.#reliable.acknowledged(request);
  }

  prackAnswered(): void {
    if (this.#open) this.#reliable.goOn();
  }

  movedTo(flow: Flow): void {
    this.#core.emit({ kind: 'moved', leg: this.#options.id, flow });
  }

  offered(sdp: string | undefined): void {
    this.#core.emit({ kind: 'offered', leg: this.#options.id, sdp });
  }

  get id(): LegId {
    return this.#options.id;
  }

  referred(refer: ReferFacts): void {
    const replaced = replacedLeg(this.#core, refer);
    this.#core.emit({ kind: 'referred', leg: this.#options.id, refer, replaced });
  }

  answerRefer(id: number, status: number): void {
    this.#session.refers.answer(id, status);
  }

  notifyRefer(id: number, status: number): void {
    this.#session.refers.notify(id, status);
  }

  refer(refer: ReferRequest): void {
    this.#session.referring.start(refer);
  }

  forgetRefer(): void {
    this.#session.referring.forget();
  }

  stepped(step: ReferStep): void {
    this.#core.emit({ kind: 'referStep', leg: this.#options.id, step });
  }

  answered(sdp: string): void {
    this.#core.emit({ kind: 'answered', leg: this.#options.id, sdp });
  }

  dtmf(digit: string, durationMs: number): void {
    this.#core.emit({ kind: 'dtmf', leg: this.#options.id, digit, durationMs });
  }

  connectionChanged(connected: boolean): void {
    this.#core.emit({ kind: 'connection', leg: this.#options.id, connected });
  }

  /** Handles the end of the session. A BYE inside the early dialog also ends the INVITE (§15.1.2). */
  ended(end: LegEndFacts): void {
    if (this.#open) this.#refuse(487, []);
    this.#end(end);
  }

  #provisional(early: string | undefined): void {
    const headers = this.#session.inviteHeaders();
    if (early === undefined) this.#reliable.send(180, { headers });
    // The caller has acknowledged our answer. Repeated, it would be an offer (RFC 3261 §13.2.1).
    else if (this.#reliable.hasAgreed) this.#reliable.send(183, { headers });
    else this.#reliable.send(183, { headers: headers.concat([CONTENT_TYPE]), body: early });
  }

  /** Sends a 5xx if no PRACK arrives within 64*T1 (RFC 3262 §3). */
  #notAcknowledged(): void {
    if (!this.#open) return;
    this.#refuse(504, []);
    this.#end({ by: 'remote', how: 'timeout', status: undefined, reason: 'No PRACK' });
  }

  /** Ends the leg because the caller's Expires elapsed before an answer (§13.3.1). */
  #expire(): void {
    if (!this.#open) return;
    this.#refuse(487, []);
    this.#end({ by: 'remote', how: 'cancel', status: 487, reason: 'Expires' });
  }

  #refuse(status: number, headers: HeaderInit, reason?: string): void {
    const request = this.#invite;
    this.#close();
    const { transaction } = this.#options;
    const all: HeaderInit = status === 503 ? [...headers, ['Retry-After', TRY_LATER_S]] : headers;
    const parts = reason === undefined ? { headers: all } : { headers: all, reason };
    this.#session.reply(transaction, request, status, parts);
    this.#session.discard();
  }

  #close(): void {
    this.#open = false;
    this.#request = undefined;
    this.#timer = undefined;
    this.#reliable.stop();
    this.#cancelRepeat();
    this.#cancelExpiry();
  }

  #end(end: LegEndFacts): void {
    if (this.#over) return;
    this.#over = true;
    this.#core.emit({ kind: 'ended', leg: this.#options.id, end });
    this.#options.ended();
  }
}
