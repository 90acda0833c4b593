import { noOperation } from '../../../base/no-operation.ts';
import { formatCSeq } from '../header/cseq.ts';
import { retryAfterMs } from '../header/retry-after.ts';
import type { HeaderInit, SipRequest, SipResponse } from '../message.ts';
import { sizeOf } from '../serialize.ts';
import type { TransactionId } from '../transaction/types.ts';
import type { Flow } from '../transport/flow.ts';
import type { Resolution, Target } from '../user-agent-types.ts';
import { SDP_TYPE } from './capabilities.ts';
import type { ClientUser, UserAgentCore } from './core.ts';
import {
  type Attempt,
  type NextHop,
  nextHopOf,
  reportedTo,
  type UriDestination,
  withTcpFirst,
} from './next-hop.ts';
import type { OutgoingRequestOptions, RequestFailure } from './outgoing-request-types.ts';
import type { Cancel } from './pending.ts';

/** Minimum time in milliseconds for each of several targets that share `firstResponseMs`. */
const LEAST_PATIENCE_MS = 1000;
/**
 * Time in milliseconds, enough for two retransmissions, for the immediate 100 of an edge proxy before the next attempt.
 */
const EDGE_MS = 2000;
/** Value of RFC 3261 timers B and F in milliseconds. */
const MOST_PATIENCE_MS = 32_000;

/** Size in bytes above which a request uses TCP, unless a transport was requested for the peer (RFC 3261 §18.1.1). */
const LARGEST_UDP_REQUEST = 1300;
const VIA_ALLOWANCE = 120;
/** Maximum number of challenges answered for one request: proxy and server, each once more with a fresh nonce. */
const MAX_CHALLENGES = 4;

/**
 * One outgoing request until its final response. It finds the next hop and tries the next target on timeout, 503 and
 * transport error only (RFC 3263 §4.3). It also answers digest challenges.
 */
export class OutgoingRequest implements ClientUser {
  readonly #core: UserAgentCore;
  readonly #options: OutgoingRequestOptions;
  #request: SipRequest;
  /** Remaining attempts. */
  #attempts: Attempt[] = [];
  /** Current attempt. */
  #attempt: Attempt | undefined;
  #timeoutMs: number | undefined;
  #cancelTimeout: Cancel = noOperation;
  #flow: Flow | undefined;
  #transaction: TransactionId | undefined;
  #challenges = 0;
  /** True after any response from the target or from the edge proxy. */
  #received = false;
  #edgeResponded = false;
  #isOfferedIpv6 = false;
  #over = false;
  #cancelHeaders: HeaderInit | undefined;

  constructor(core: UserAgentCore, options: OutgoingRequestOptions) {
    this.#core = core;
    this.#options = options;
    this.#request = options.request;
  }

  /** Request as last sent, without Via. */
  get request(): SipRequest {
    return this.#request;
  }

  get flow(): Flow | undefined {
    return this.#flow;
  }

  /** True if the current attempt has `offer6`. */
  get isOfferedIpv6(): boolean {
    return this.#isOfferedIpv6;
  }

  start(): void {
    const { destination } = this.#options;
    if (destination.kind === 'flow') {
      this.#send(destination.flow);
      return;
    }
    const hop = nextHopOf(destination.uri, destination.transport, destination.guard);
    if (hop === undefined) this.#failLater('unreachable');
    else if (hop.kind === 'target') this.#resolved(hop, { targets: [hop.target] });
    else this.#resolve(hop, destination);
  }

  /** Transfers later responses of the last sent request to `user`, so this object can be released. */
  handTo(user: ClientUser): void {
    if (this.#transaction !== undefined) this.#core.clients.set(this.#transaction, user);
  }

  /**
   * Cancels an INVITE (§9.1). Returns true if the INVITE was not sent yet; then nothing is sent and no callback
   * follows.
   */
  cancel(headers: HeaderInit): boolean {
    if (this.#cancelHeaders !== undefined || this.#over) return this.#over;
    this.#cancelHeaders = headers;
    this.#cancelTimeout();
    if (this.#transaction === undefined) {
      this.#over = true;
      return true;
    }
    this.#core.run(this.#core.layer.cancel(this.#transaction, headers, this.#core.nowMs));
    return false;
  }

  /** Sends nothing more, and ignores failures and refusals of what was sent. */
  abandon(): void {
    this.#over = true;
    this.#cancelTimeout();
  }

  response(response: SipResponse, flow: Flow): void {
    if (this.#over && response.status >= 300) return;
    const { status } = response;
    const cancelled = this.#cancelHeaders !== undefined;
    if (this.#isEdgesOwn(flow)) {
      this.#edgeAnswered();
      if (status < 200) return;
      if (!cancelled) {
        this.#noteUnresponsive();
        this.#tryNextTarget(status === 408 ? 'timeout' : 'transport');
        return;
      }
    }
    this.#answered();
    if (status < 300) {
      this.#options.user.response(response, flow);
      return;
    }
    if (status === 503 && !cancelled && this.#otherTargets().length > 0) {
      this.#noteRest(response);
      this.#tryNextTarget('transport');
      return;
    }
    if (!cancelled && this.#flow !== undefined && this.#canAnswer(response, this.#flow)) {
      this.#again(this.#flow);
      return;
    }
    this.#over = true;
    this.#options.user.response(response, flow);
  }

  failed(how: 'timeout' | 'transport'): void {
    if (this.#over) return;
    if (!this.#received) this.#noteUnresponsive();
    const mayTryNext = !this.#received && this.#cancelHeaders === undefined;
    if (mayTryNext) this.#tryNext(how);
    else this.#fail(how);
  }

  #resolve(hop: Extract<NextHop, { kind: 'query' }>, { guard, otherwise }: UriDestination): void {
    const id = this.#core.resolving.ask((resolution) => {
      if (resolution.refusal === undefined || this.#over) this.#resolved(hop, resolution);
      else if (otherwise !== undefined) this.#send(otherwise);
      else this.#failLater('notAllowed', resolution.refusal);
    });
    if (id === undefined) this.#failLater('transport');
    else this.#core.emit({ kind: 'resolve', id, query: hop.query, guard });
  }

  #resolved(hop: NextHop, { targets }: Resolution): void {
    if (this.#over) return;
    const { destination } = this.#options;
    const mayChange =
      destination.kind === 'uri' && (destination.largeOverTcp ?? hop.transportIsOpen);
    const tooLarge = mayChange && this.#isLarge();
    const { transports } = this.#core.options;
    const usable = targets.filter((target) => transports.includes(target.transport));
    const mayBeTcp = tooLarge && transports.includes('tcp');
    const ordered = this.#core.unresponsive.inOrder(
      mayBeTcp ? usable.flatMap(withTcpFirst) : usable,
      this.#core.nowMs,
    );
    this.#attempts = this.#waysTo(ordered);
    const { firstResponseMs } = this.#options;
    if (firstResponseMs !== undefined) {
      this.#timeoutMs = Math.max(LEAST_PATIENCE_MS, firstResponseMs / ordered.length);
    }
    if (this.#attempts.length === 0) this.#failLater('unreachable');
    else this.#tryNext('unreachable');
  }

  #waysTo(targets: readonly Target[]): Attempt[] {
    const { edgeWays, nowMs } = this.#core;
    const { destination } = this.#options;
    if (edgeWays === undefined || destination.kind === 'flow')
      return targets.map((target) => ({ target }));
    if (destination.viaEdges !== true) return [...edgeWays.within(targets, nowMs)];
    const isLarge = this.#isLarge() && this.#core.options.transports.includes('tcp');
    return [...edgeWays.toOthers(targets, isLarge, nowMs)];
  }

  #isLarge(): boolean {
    return sizeOf(this.#request) + VIA_ALLOWANCE > LARGEST_UDP_REQUEST;
  }

  /** Remaining attempts for other targets. */
  #otherTargets(): Attempt[] {
    return this.#attempts.filter(({ target }) => target !== this.#attempt?.target);
  }

  #tryNextTarget(lastFailure: RequestFailure): void {
    this.#attempts = this.#otherTargets();
    this.#tryNext(lastFailure);
  }

  #tryNext(lastFailure: RequestFailure): void {
    const attempt = this.#attempts.shift();
    this.#attempt = attempt;
    this.#cancelTimeout();
    if (attempt === undefined) {
      this.#fail(lastFailure);
      return;
    }
    this.#transaction = undefined;
    this.#received = false;
    this.#edgeResponded = false;
    this.#waitFor(attempt);
    const hop = attempt.edge ?? attempt.target;
    if (hop.transport === 'udp') {
      this.#send(this.#core.udpFlow(hop.address, hop.port));
      return;
    }
    const id = this.#core.connecting.ask((flow) => {
      if (this.#over || this.#attempt !== attempt) return;
      if (flow === undefined) this.failed('transport');
      else this.#send(flow);
    });
    if (id === undefined) this.#failLater('transport');
    else this.#core.emit({ kind: 'connect', id, target: hop });
  }

  #waitFor(attempt: Attempt): void {
    if (attempt.edge !== undefined) this.#waitForEdge(attempt.edge, EDGE_MS);
    else if (this.#timeoutMs !== undefined) this.#wait(this.#timeoutMs, () => this.#giveUp());
  }

  /** An edge proxy sends no 100 for requests other than INVITE. While it keeps sending OPTIONS, it counts as live. */
  #waitForEdge(edge: Target, ms: number): void {
    this.#wait(ms, () => {
      const isGone = this.#core.edgeWays?.isSilent(edge, this.#core.nowMs) === true;
      if (this.#request.method === 'INVITE' || isGone) this.#giveUp();
      else this.#waitForEdge(edge, EDGE_MS);
    });
  }

  #wait(ms: number, late: () => void): void {
    const attempt = this.#attempt;
    this.#cancelTimeout();
    this.#cancelTimeout = this.#core.dialogTimers.at(this.#core.nowMs + ms, () => {
      if (!this.#over && !this.#received && this.#attempt === attempt) late();
    });
  }

  /**
   * Abandons a target that does not respond and tries the next one. If the target still responds, it gets CANCEL, or
   * ACK and BYE.
   */
  #giveUp(): void {
    const core = this.#core;
    const { user } = this.#options;
    const abandoned = this.#transaction;
    this.#noteUnresponsive();
    if (abandoned !== undefined) {
      core.clients.set(abandoned, {
        response: (response, flow) => {
          if (response.status >= 200 && response.status < 300) user.late?.(response, flow);
        },
        failed: () => undefined,
      });
      if (this.#request.method === 'INVITE') core.run(core.layer.cancel(abandoned, [], core.nowMs));
    }
    this.#tryNext('timeout');
  }

  /** Returns whether the response comes from the edge proxy itself and not from its target. */
  #isEdgesOwn(flow: Flow): boolean {
    return this.#attempt?.isReported === true && flow.behind === undefined && !this.#received;
  }

  /** The edge proxy now waits for the target and reports a timeout. If the edge fails first, another attempt starts. */
  #edgeAnswered(): void {
    const { edge } = this.#attempt ?? {};
    if (this.#edgeResponded || edge === undefined) return;
    this.#edgeResponded = true;
    this.#core.unresponsive.forget(edge);
    this.#cancelTimeout();
    if (this.#timeoutMs !== undefined) {
      this.#wait(this.#timeoutMs + EDGE_MS, () => {
        this.#edgeResponded = false;
        this.#giveUp();
      });
    }
  }

  #answered(): void {
    if (this.#received) return;
    this.#received = true;
    this.#cancelTimeout();
    const { target, edge } = this.#attempt ?? {};
    if (target !== undefined) this.#core.unresponsive.forget(target);
    if (edge !== undefined) this.#core.unresponsive.forget(edge);
  }

  /** Records the unresponsive hop: the edge proxy, or its target. */
  #noteUnresponsive(): void {
    const { target, edge } = this.#attempt ?? {};
    const silent = this.#edgeResponded ? target : (edge ?? target);
    if (silent !== undefined) this.#core.unresponsive.note(silent, this.#core.nowMs);
  }

  /** Moves a target with Retry-After to the end of the order for that time (RFC 3261 §21.5.4). */
  #noteRest(response: SipResponse): void {
    const restMs = retryAfterMs(response);
    const { unresponsive, nowMs } = this.#core;
    if (restMs !== undefined && this.#attempt !== undefined)
      unresponsive.note(this.#attempt.target, nowMs, restMs);
  }

  #send(flow: Flow): void {
    this.#flow = flow;
    const { auth, isConfigured = false } = this.#options;
    if (isConfigured) for (const host of this.#hostsAt(flow)) auth?.trust(host);
    this.#setOffer(flow);
    const credentials = auth?.headers(this.#request, flow.remoteAddress) ?? [];
    let request = this.#request;
    for (const [name, value] of credentials) request = request.withAddedHeader(name, value);
    const { target, isReported } = this.#attempt ?? {};
    if (isReported !== true || target === undefined) {
      this.#transaction = this.#core.request(request, flow, this);
      return;
    }
    const { transport, address, port } = target;
    const reported = reportedTo(request, target, this.#timeoutMs ?? MOST_PATIENCE_MS);
    const through = { ...flow, behind: { transport, address, port } };
    this.#transaction = this.#core.request(reported, through, this);
  }

  /** Sets the offer of the peer's address family (RFC 3263 §4.3: the targets of a name may have both). */
  #setOffer(flow: Flow): void {
    const { request, offer6, peerAddress } = this.#options;
    if (offer6 === undefined) return;
    const address = peerAddress ?? this.#attempt?.target.address ?? flow.remoteAddress;
    this.#isOfferedIpv6 = address.includes(':');
    const body = this.#isOfferedIpv6 ? Buffer.from(offer6) : request.body;
    this.#request = this.#request.withBody(body, SDP_TYPE);
  }

  /** Hosts that receive requests over the flow: an edge proxy and the target behind it. */
  #hostsAt(flow: Flow): readonly string[] {
    const { target } = this.#attempt ?? {};
    return target === undefined ? [flow.remoteAddress] : [flow.remoteAddress, target.address];
  }

  #canAnswer(response: SipResponse, flow: Flow): boolean {
    if (response.status !== 401 && response.status !== 407) return false;
    if (this.#challenges >= MAX_CHALLENGES) return false;
    const answeredBefore = this.#challenges > 0;
    if (this.#options.auth?.challenged(response, flow.remoteAddress, answeredBefore) !== true)
      return false;
    this.#challenges += 1;
    return true;
  }

  /** Sends the same request in a new transaction with a new CSeq (§22.2). */
  #again(flow: Flow): void {
    const { method } = this.#request;
    const cseq = formatCSeq(this.#options.nextSequence(), method);
    this.#request = this.#request.withHeader('CSeq', cseq);
    this.#received = false;
    this.#send(flow);
  }

  #fail(how: RequestFailure, why?: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#cancelTimeout();
    this.#options.user.failed(how, why);
  }

  /** Reports the failure in a later turn, because the caller does not expect a result before the command returns. */
  #failLater(how: RequestFailure, why?: string): void {
    this.#core.dialogTimers.at(this.#core.nowMs, () => this.#fail(how, why));
  }
}
