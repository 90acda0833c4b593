import type { ClientAuth } from '../auth/client-auth.ts';
import { formatCSeq, MAX_CSEQ } from '../header/cseq.ts';
import type { SipRequest, SipResponse } from '../message.ts';
import type { Flow } from '../transport/flow.ts';
import type { DestinationGuard, LegEndFacts, RespondingPeer } from '../user-agent-types.ts';
import { AcceptedInvite } from './accepted-invite.ts';
import { sdpOf } from './capabilities.ts';
import type { UserAgentCore } from './core.ts';
import { askedBy, Dialog, reasonHeaders, refusedBy } from './dialog.ts';
import type { Destination } from './next-hop.ts';
import { OutgoingRequest } from './outgoing-request.ts';
import type { RequestFailure, RequestUser } from './outgoing-request-types.ts';
import { reliableSequence } from './reliable.ts';
import { Session, type SessionUser } from './session.ts';
import { DEFAULT_SESSION_TIMER, SessionTimer } from './session-timer.ts';

/** Callbacks from a branch to its leg. */
export interface BranchUser extends SessionUser {
  progress(branch: InviteBranch, status: number, sdp: string | undefined): void;
  connected(branch: InviteBranch, session: Session, sdp: string | undefined): void;
  /** The branch ended without a session. Called exactly once unless `connected` was called. */
  failed(branch: InviteBranch, end: LegEndFacts): void;
}

export interface BranchOptions {
  /** Request without Via and session timer fields. */
  readonly request: SipRequest;
  /** Offer, or undefined if the peer makes the offer in its 2xx. */
  readonly sdp: string | undefined;
  /** Offer for destinations with IPv6. Default: `sdp`. */
  readonly sdp6?: string | undefined;
  readonly destination: Destination;
  /** Address of the peer, if it is not that of the destination. */
  readonly peerAddress?: string | undefined;
  readonly viaFlow: boolean;
  /** Destination guard for a customer's peer; it applies to the whole dialog. */
  readonly guard: DestinationGuard | undefined;
  /** User of a registered phone. */
  readonly username?: string | undefined;
  readonly auth: ClientAuth | undefined;
  /** Route over another flow of the same phone, used if this one fails (RFC 5626 §5.3). */
  readonly otherFlow?: Omit<BranchOptions, 'user'> | undefined;
  /** Callback for a 430 response: a proxy reports that the flow of the binding failed. */
  readonly flowFailed?: (() => void) | undefined;
  /** First-response timeout; see OutgoingRequestOptions. */
  readonly firstResponseMs: number | undefined;
  readonly user: BranchUser;
}

/** Maximum number of early dialogs of one INVITE. Progress of further forks is ignored. */
const MAX_EARLY_DIALOGS = 16;
const MAX_INTERVAL_RETRIES = 2;
/** Status code of RFC 5626 §11.5. */
const FLOW_FAILED = 430;

/** One INVITE to one destination and all responses to it (RFC 3261 §13.2). */
export class InviteBranch implements RequestUser {
  readonly #core: UserAgentCore;
  readonly #options: BranchOptions;
  readonly #timer: SessionTimer;
  readonly #early = new Map<string, Session>();
  /** RSeq of the last reliable provisional response per early dialog, and the answer it contained, if any. */
  #reliable: Map<Session, { readonly sequence: number; readonly sdp?: string }> | undefined;
  /** Set by the first 2xx. */
  #accepted: AcceptedInvite | undefined;
  /** A 2xx with an offer that has not been acknowledged yet. */
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

  /** Other route to the same phone after that end, if there is one. */
  otherFlow(end: LegEndFacts): BranchOptions['otherFlow'] {
    if (end.status === FLOW_FAILED) this.#options.flowFailed?.();
    const isFlows = end.status === FLOW_FAILED || end.how === 'transport' || end.how === 'timeout';
    return this.#cancelled || !isFlows ? undefined : this.#options.otherFlow;
  }

  /** Peer that sent the last response, or undefined if only 100 arrived. */
  get peer(): RespondingPeer | undefined {
    return this.#peer;
  }

  start(): void {
    this.#outgoing.start();
  }

  /** First early dialog. */
  get dialog(): Dialog | undefined {
    const [first] = this.#early.values();
    return first?.dialog;
  }

  /** Returns whether the session is one of its early dialogs. */
  owns(session: Session): boolean {
    return this.#early.get(session.dialog.remoteTag) === session;
  }

  /**
   * Cancels the INVITE: CANCEL now or after the first provisional response. A 2xx that still arrives gets ACK and BYE.
   */
  cancel(reason: string | undefined): void {
    if (this.#over) return;
    this.#cancelled = true;
    if (this.#outgoing.cancel(reasonHeaders(reason))) this.#finish();
  }

  response(response: SipResponse, flow: Flow): void {
    const { status } = response;
    if (status === 100) return;
    const { isOfferedIpv6 } = this.#outgoing;
    this.#peer = { flow, software: softwareOf(response), isOfferedIpv6 };
    if (status < 200) this.#provisional(response, flow);
    else if (status < 300) this.#accept(response, flow);
    else if (status === 422 && this.#mayRaise(response)) this.#retry();
    else this.#fail(refusedBy(response));
  }

  failed(how: RequestFailure, why?: string): void {
    const by = how === 'notAllowed' ? 'local' : 'remote';
    this.#fail({ by, how, status: undefined, reason: why });
  }

  /** True if the offer of the 2xx needs an answer. */
  get awaitsAnswer(): boolean {
    return this.#offered !== undefined;
  }

  /** Sends the answer to the offer of the 2xx in the ACK. */
  acknowledge(sdp: string | undefined): void {
    const offered = this.#offered;
    this.#offered = undefined;
    if (offered === undefined) return;
    const { session, sequence, tag } = offered;
    session.refresh.noteLocal(sdp);
    this.#accepted?.acknowledge(session.route, { sequence, sdp, tag });
  }

  /** Handles a 2xx after cancellation: acknowledges and ends that session immediately. */
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
      isConfigured: true,
      offer6: this.#options.sdp6,
      peerAddress: this.#options.peerAddress,
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

  /** Sends the INVITE again with the session interval that the 422 requires (RFC 4028 §7.3). */
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
      // Only a reliable response can carry an offer (RFC 3261 §13.2.1). It may repeat an answer that has been replaced.
      const isReplaced = this.#early.get(tag ?? '')?.isRenegotiated === true;
      const hasAnswer = this.#options.sdp !== undefined && !isReplaced;
      const sdp = hasAnswer ? sdpOf(response) : undefined;
      this.#options.user.progress(this, status, sdp);
    }
  }

  /** Sends PRACK once per response, in order (RFC 3262 §4). Returns false for a repeated or out-of-order response. */
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
    // A second 2xx from a fork, or one that crossed our CANCEL: its session ends immediately (§13.2.2.4, §15).
    const isWanted = !this.#over && !this.#cancelled;
    const timer = isWanted ? this.#timer : this.#newTimer();
    const session = this.#acknowledge(response, flow, timer, isWanted);
    if (session === undefined) return;
    // Later responses go to `#accepted`, because the leg may end long before the transaction.
    if (this.#accepted !== undefined) this.#outgoing.handTo(this.#accepted);
    if (!isWanted) session.bye([]);
    this.#finish();
    // A reliable provisional response, if any, already contains the answer (RFC 6337 §2.1). The session of an UPDATE or
    // PRACK has replaced both.
    const answer = this.#reliable?.get(session)?.sdp ?? sdpOf(response);
    const sdp = session.isRenegotiated ? undefined : answer;
    if (isWanted) this.#options.user.connected(this, session, sdp);
  }

  /** Session of a 2xx, or undefined for a repeated 2xx after repeating its ACK. */
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
    const { sdp } = this.#options;
    session.confirm(response, sdp && this.#outgoing.request.bodyText);
    const { sequence } = response.cseq;
    if (isWanted && sdp === undefined) this.#offered = { session, sequence, tag };
    else this.#accepted.acknowledge(session.route, { sequence, sdp: undefined, tag });
    return session;
  }

  #newAccepted(): AcceptedInvite {
    const { auth, viaFlow, guard, destination, user } = this.#options;
    return new AcceptedInvite(this.#core, {
      auth,
      viaFlow,
      guard,
      leg: user.id,
      largeOverTcp: largeOverTcpTo(destination),
      requested: askedBy(this.#outgoing.request),
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
      username: this.#options.username,
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

  /** Ends the early dialogs at the final response of any status (§13.2.2.3, §13.2.2.4). */
  #finish(): void {
    this.#over = true;
    for (const session of this.#early.values()) session.discard();
    this.#early.clear();
  }
}

/**
 * Returns whether large requests may switch from UDP to TCP. A fixed flow or an explicit UDP transport prevents it,
 * unless the policy says otherwise.
 */
function largeOverTcpTo(destination: Destination): boolean {
  if (destination.kind === 'flow') return false;
  return destination.largeOverTcp ?? destination.transport === undefined;
}

/** Software name of the peer. Peers use either header field. */
const softwareOf = (response: SipResponse): string | undefined =>
  response.header('server') ?? response.header('user-agent');
