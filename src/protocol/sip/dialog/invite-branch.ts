import type { ClientAuth } from '../auth/client-auth.ts';
import { formatCSeq, MAX_CSEQ } from '../header/cseq.ts';
import type { SipRequest, SipResponse } from '../message.ts';
import type { Flow } from '../transport/flow.ts';
import type { DestinationGuard, LegEndFacts, RespondingPeer } from '../user-agent-types.ts';
import { AcceptedInvite } from './accepted-invite.ts';
import type { UserAgentCore } from './core.ts';
import { askedBy, Dialog } from './dialog.ts';
import { reasonHeaders, refusedBy } from './leg.ts';
import type { Destination } from './next-hop.ts';
import { OutgoingRequest, type RequestFailure, type RequestUser } from './outgoing-request.ts';
import { reliableSequence } from './reliable.ts';
import { sdpOf } from './sdp-body.ts';
import { Session, type SessionUser } from './session.ts';
import { DEFAULT_SESSION_TIMER, SessionTimer } from './session-timer.ts';

/** What the leg hears of one of its branches. */
export interface BranchUser extends SessionUser {
  progress(branch: InviteBranch, status: number, sdp: string | undefined): void;
  connected(branch: InviteBranch, session: Session, sdp: string | undefined): void;
  /** No session comes of this branch. Exactly once, unless `connected` came. */
  failed(branch: InviteBranch, end: LegEndFacts): void;
}

export interface BranchOptions {
  /** Complete but for Via and session timer. */
  readonly request: SipRequest;
  /** Undefined: the peer makes the offer, in its 2xx. */
  readonly sdp: string | undefined;
  readonly destination: Destination;
  readonly viaFlow: boolean;
  /** Of a peer that is a customer's; it holds for the whole dialog. */
  readonly guard: DestinationGuard | undefined;
  readonly auth: ClientAuth | undefined;
  /** To another flow of the same phone, when this one does not lead there (RFC 5626 §5.3). */
  readonly otherFlow?: Omit<BranchOptions, 'user'> | undefined;
  /** The flow of the binding is gone, says a proxy before the phone (430). */
  readonly flowFailed?: (() => void) | undefined;
  /** See OutgoingRequestOptions. */
  readonly firstResponseMs: number | undefined;
  readonly user: BranchUser;
}

/** Early dialogs of one INVITE; a proxy may fork it to more, whose progress is then not followed. */
const MAX_EARLY_DIALOGS = 16;
const MAX_INTERVAL_RETRIES = 2;
/** RFC 5626 §11.5. */
const FLOW_FAILED = 430;

/** One INVITE of ours to one destination, with everything that may come back (RFC 3261 §13.2). */
export class InviteBranch implements RequestUser {
  readonly #core: UserAgentCore;
  readonly #options: BranchOptions;
  readonly #timer: SessionTimer;
  readonly #early = new Map<string, Session>();
  /** RSeq of the last reliable provisional response of each, and the answer that one of them brought. */
  #reliable: Map<Session, { readonly sequence: number; readonly sdp?: string }> | undefined;
  /** From the first 2xx on. */
  #accepted: AcceptedInvite | undefined;
  /** A 2xx with an offer that is not acknowledged yet. */
  #offered:
    | { readonly session: Session; readonly sequence: number; readonly tag: string }
    | undefined;
  #outgoing: OutgoingRequest;
  #peer: RespondingPeer | undefined;
  #intervalRetries = 0;
  #cancelled = false;
  #over = false;

  constructor(core: UserAgentCore, options: BranchOptions) {
    this.#core = core;
    this.#options = options;
    this.#timer = this.#newTimer();
    this.#outgoing = this.#send(options.request);
  }

  get callId(): string {
    return this.#options.request.callId;
  }

  /** Where else the same phone may be reached after that end. */
  otherFlow(end: LegEndFacts): BranchOptions['otherFlow'] {
    if (end.status === FLOW_FAILED) this.#options.flowFailed?.();
    const isFlows = end.status === FLOW_FAILED || end.how === 'transport' || end.how === 'timeout';
    return this.#cancelled || !isFlows ? undefined : this.#options.otherFlow;
  }

  /** Whom the last response came from; undefined: there was none but 100. */
  get peer(): RespondingPeer | undefined {
    return this.#peer;
  }

  start(): void {
    this.#outgoing.start();
  }

  /** The first of its early dialogs. */
  get dialog(): Dialog | undefined {
    const [first] = this.#early.values();
    return first?.dialog;
  }

  /** The session is one of its early dialogs. */
  owns(session: Session): boolean {
    return this.#early.get(session.dialog.remoteTag) === session;
  }

  /** Gives up: CANCEL now or after the first provisional response; a 2xx that comes all the same gets ACK and BYE. */
  cancel(reason: string | undefined): void {
    if (this.#over) return;
    this.#cancelled = true;
    if (this.#outgoing.cancel(reasonHeaders(reason))) this.#finish();
  }

  response(response: SipResponse, flow: Flow): void {
    const { status } = response;
    if (status === 100) return;
    this.#peer = { flow, software: softwareOf(response) };
    if (status < 200) this.#provisional(response, flow);
    else if (status < 300) this.#accept(response, flow);
    else if (status === 422 && this.#mayRaise(response)) this.#retry();
    else this.#fail(refusedBy(response));
  }

  failed(how: RequestFailure, why?: string): void {
    const by = how === 'notAllowed' ? 'local' : 'remote';
    this.#fail({ by, how, status: undefined, reason: why });
  }

  /** The offer of the 2xx waits for its answer. */
  get awaitsAnswer(): boolean {
    return this.#offered !== undefined;
  }

  /** Answers the offer of the 2xx. */
  acknowledge(sdp: string | undefined): void {
    const offered = this.#offered;
    this.#offered = undefined;
    if (offered === undefined) return;
    const { session, sequence, tag } = offered;
    session.refresh.noteLocal(sdp);
    this.#sendAck(session, { sequence, sdp, tag });
  }

  /** A target that was given up answers all the same: that session ends at once. */
  late(response: SipResponse, flow: Flow): void {
    this.#acknowledge(response, flow, this.#newTimer())?.bye([]);
  }

  #newTimer(): SessionTimer {
    return new SessionTimer(this.#core.options.sessionTimer ?? DEFAULT_SESSION_TIMER);
  }

  #send(request: SipRequest): OutgoingRequest {
    let timed = request;
    for (const [name, value] of this.#timer.requestHeaders()) timed = timed.withHeader(name, value);
    return new OutgoingRequest(this.#core, {
      request: timed,
      destination: this.#options.destination,
      auth: this.#options.auth,
      firstResponseMs: this.#options.firstResponseMs,
      nextSequence: () => (this.#outgoing.request.cseq.sequence % MAX_CSEQ) + 1,
      user: this,
    });
  }

  #mayRaise(response: SipResponse): boolean {
    if (this.#cancelled || this.#intervalRetries >= MAX_INTERVAL_RETRIES) return false;
    this.#intervalRetries += 1;
    return this.#timer.raise(response);
  }

  /** The same INVITE with the session interval that the 422 asked for (RFC 4028 §7.3). */
  #retry(): void {
    const sequence = (this.#outgoing.request.cseq.sequence % MAX_CSEQ) + 1;
    const request = this.#options.request.withHeader('CSeq', formatCSeq(sequence, 'INVITE'));
    this.#outgoing = this.#send(request);
    this.#outgoing.start();
  }

  #provisional(response: SipResponse, flow: Flow): void {
    if (this.#over || this.#cancelled) return;
    const tag = response.to.tag;
    if (tag !== undefined && !this.#early.has(tag) && this.#early.size < MAX_EARLY_DIALOGS) {
      this.#early.set(tag, this.#session(response, flow));
    }
    const { status } = response;
    const sequence = reliableSequence(response);
    if (sequence !== undefined && !this.#acknowledgeProvisional(response, sequence)) return;
    if (status >= 180 && status <= 183) {
      // An offer that is not reliable is none (RFC 3261 §13.2.1).
      const sdp = this.#options.sdp === undefined ? undefined : sdpOf(response);
      this.#options.user.progress(this, status, sdp);
    }
  }

  /** PRACK, in order and once for each (RFC 3262 §4); false: it came again, or before its turn. */
  #acknowledgeProvisional(response: SipResponse, sequence: number): boolean {
    const session = this.#early.get(response.to.tag ?? '');
    if (session === undefined) return false;
    const before = this.#reliable?.get(session);
    if (before !== undefined && sequence !== before.sequence + 1) return false;
    const sdp = before?.sdp ?? sdpOf(response);
    this.#reliable ??= new Map();
    this.#reliable.set(session, { sequence, ...(sdp === undefined ? {} : { sdp }) });
    const rack = `${sequence} ${response.cseq.sequence} INVITE`;
    const nothing = { response: () => undefined, failed: () => undefined };
    session.route.send('PRACK', { headers: [['RAck', rack]] }, nothing);
    if (sdp !== undefined) session.agreed();
    return true;
  }

  #accept(response: SipResponse, flow: Flow): void {
    // A fork's second 2xx, or one that crossed our CANCEL: that session ends at once (§13.2.2.4, §15).
    const isWanted = !this.#over && !this.#cancelled;
    const timer = isWanted ? this.#timer : this.#newTimer();
    const session = this.#acknowledge(response, flow, timer, isWanted);
    if (session === undefined) return;
    // What else comes finds nothing of the leg, which may be over long before the transaction.
    if (this.#accepted !== undefined) this.#outgoing.handTo(this.#accepted);
    if (!isWanted) session.bye([]);
    this.#finish();
    // The answer stands in a reliable provisional response, where there was one (RFC 6337 §2.1).
    const sdp = this.#reliable?.get(session)?.sdp ?? sdpOf(response);
    if (isWanted) this.#options.user.connected(this, session, sdp);
  }

  /** The session of a 2xx; undefined: it came again, and so does its ACK. */
  #acknowledge(
    response: SipResponse,
    flow: Flow,
    timer: SessionTimer,
    isWanted = false,
  ): Session | undefined {
    const tag = response.to.tag ?? '';
    this.#accepted ??= this.#newAccepted();
    if (!this.#accepted.takes(tag)) return undefined;
    const session = this.#early.get(tag) ?? this.#session(response, flow, timer);
    this.#early.delete(tag);
    session.confirm(response, this.#options.sdp);
    const { sequence } = response.cseq;
    if (isWanted && this.#options.sdp === undefined) this.#offered = { session, sequence, tag };
    else this.#sendAck(session, { sequence, sdp: undefined, tag });
    return session;
  }

  #sendAck(
    session: Session,
    { sequence, sdp, tag }: { sequence: number; sdp: string | undefined; tag: string },
  ): void {
    const accepted = this.#accepted;
    session.route.acknowledge({ sequence, sdp }, (ack) => accepted?.acknowledged(tag, ack));
  }

  #newAccepted(): AcceptedInvite {
    const { auth, viaFlow, guard, destination, user } = this.#options;
    return new AcceptedInvite(this.#core, {
      ...{ auth, viaFlow, guard, leg: user.id, largeOverTcp: largeOverTcpTo(destination) },
      asked: askedBy(this.#outgoing.request),
    });
  }

  #session(response: SipResponse, flow: Flow, timer = this.#timer): Session {
    const session = new Session(this.#core, {
      dialog: Dialog.fromResponse(askedBy(this.#outgoing.request), response),
      timer,
      user: this.#options.user,
      auth: this.#options.auth,
      flow,
      viaFlow: this.#options.viaFlow,
      guard: this.#options.guard,
      largeOverTcp: largeOverTcpTo(this.#options.destination),
      isCaller: true,
    });
    session.refresh.notePeer(response);
    return session;
  }

  #fail(end: LegEndFacts): void {
    if (this.#over) return;
    const cancelled = this.#cancelled;
    this.#finish();
    if (!cancelled) this.#options.user.failed(this, end);
  }

  /** Early dialogs end with the final response, whichever it is (§13.2.2.3, §13.2.2.4). */
  #finish(): void {
    this.#over = true;
    for (const session of this.#early.values()) session.discard();
    this.#early.clear();
  }
}

/** A flow, and whoever was asked for by UDP, gets large requests as it gets the others, unless its policy says so. */
function largeOverTcpTo(destination: Destination): boolean {
  if (destination.kind === 'flow') return false;
  return destination.largeOverTcp ?? destination.transport === undefined;
}

/** Servers of both kinds name themselves in either header field. */
const softwareOf = (response: SipResponse): string | undefined =>
  response.header('server') ?? response.header('user-agent');
