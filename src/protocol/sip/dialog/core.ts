import { bracketed } from '../../../base/host.ts';
import { type LegId, token } from '../../../base/ids.ts';
import type { NameAddr } from '../header/name-addr.ts';
import { quote } from '../header/text.ts';
import { MAGIC_COOKIE } from '../header/via.ts';
import {
  createResponse,
  type HeaderInit,
  type ResponseParts,
  type SipRequest,
  type SipResponse,
} from '../message.ts';
import type { ContactBinding } from '../registrar/binding.ts';
import { serialize } from '../serialize.ts';
import { TransactionLayer } from '../transaction/layer.ts';
import type { Arrival, StatelessAnswer } from '../transaction/stateless.ts';
import { RFC3261_TIMERS, type TimerValues } from '../transaction/timer-values.ts';
import type { TransactionId, TransactionOutput } from '../transaction/types.ts';
import type { Flow } from '../transport/flow.ts';
import { KnownPeers } from '../transport/known-peers.ts';
import {
  DEFAULT_USER_AGENT_LIMITS,
  type HangupCommand,
  type Resolution,
  type Target,
  type UserAgentLimits,
  type UserAgentOptions,
  type UserAgentOutput,
} from '../user-agent-types.ts';
import { loopMark } from './capabilities.ts';
import { OutboundEdges, Unresponsive } from './next-hop.ts';
import { DialogTimers, Questions } from './pending.ts';
import { type ContactKind, type Peer, PublicHosts } from './public-hosts.ts';

/** Sender of a request in a client transaction. */
export interface ClientUser {
  response(response: SipResponse, flow: Flow): void;
  failed(how: 'timeout' | 'transport'): void;
}

/** Handler of an INVITE from a peer. */
export interface ServerUser {
  /** To tag of our responses, which the response to a CANCEL carries too (RFC 3261 §9.2). Undefined allows any tag. */
  readonly localTag?: string | undefined;
  cancelled(request: SipRequest): void;
}

/** User of a dialog: receives the peer's requests inside it. */
export interface DialogUser {
  readonly leg?: LegId | undefined;
  /** Stage of a session. `requested`: unanswered INVITE from the peer. `early`: unanswered local INVITE. */
  readonly stage?: 'asked' | 'early' | 'confirmed' | 'over';
  /** Receives a request whose extensions and content have been checked. */
  receive(request: SipRequest, transaction: TransactionId, flow: Flow): void;
  acknowledged(ack: SipRequest): void;
  connectionLost(connectionId: number): void;
  /**
   * Handles an out-of-dialog REFER about this dialog (Target-Dialog, RFC 4538) from an authenticated sender. Undefined
   * if unsupported.
   */
  targeted?(refer: SipRequest, transaction: TransactionId, flow: Flow): void;
}

type Incoming = Extract<
  TransactionOutput,
  { kind: 'request' | 'cancel' | 'ack' | 'strayResponse' | 'discarded' }
>;

const TAG_BITS = 64;

/** State shared by the parts of a user agent: current time, transactions, timers, dialogs, queries, outputs. */
export class UserAgentCore {
  readonly options: UserAgentOptions;
  readonly limits: UserAgentLimits;
  readonly timers: TimerValues;
  readonly dialogTimers = new DialogTimers();
  readonly layer: TransactionLayer;
  /** Dialog users by dialog ID. */
  readonly dialogs = new Map<string, DialogUser>();
  readonly clients = new Map<TransactionId, ClientUser>();
  readonly servers = new Map<TransactionId, ServerUser>();
  readonly resolving: Questions<Resolution>;
  readonly connecting: Questions<Flow | undefined>;
  readonly knownPeers = new KnownPeers();
  /** Current contacts of a user; none without a registrar. */
  contactsOf: (username: string) => readonly ContactBinding[] = () => [];
  /** Service-Route of our registrations by the URI of the registrar (RFC 3608). */
  readonly serviceRoutes = new Map<string, readonly NameAddr[]>();
  readonly unresponsive = new Unresponsive();
  /** Edge proxies for our requests; undefined if none are configured. */
  readonly edgeWays: OutboundEdges | undefined;
  #nowMs = 0;
  readonly #incoming: (output: Incoming) => void;
  /** Our hosts and ports in Via and Contact. */
  readonly #hosts: PublicHosts;
  readonly #software: readonly [name: string, value: string];
  #outputs: UserAgentOutput[] = [];
  /** Listener for all outputs except messages. */
  said: (output: UserAgentOutput) => void = () => undefined;

  /** `screen` returns the stateless answer to a new request, if any. */
  constructor(
    options: UserAgentOptions,
    incoming: (output: Incoming) => void,
    screen: (request: SipRequest, flow: Flow, arrival: Arrival) => StatelessAnswer | undefined,
  ) {
    this.options = options;
    this.#software = ['Server', options.userAgent];
    this.limits = options.limits ?? DEFAULT_USER_AGENT_LIMITS;
    this.timers = options.timers ?? RFC3261_TIMERS;
    const { edges = [] } = options;
    this.edgeWays = edges.length === 0 ? undefined : new OutboundEdges(edges, this.unresponsive);
    this.resolving = new Questions(this.limits.maxWaiting);
    this.connecting = new Questions(this.limits.maxWaiting);
    this.layer = new TransactionLayer({
      newToken: () => this.newToken(),
      timers: this.timers,
      server: options.userAgent,
      screen,
      isKnown: (flow) =>
        options.trustedSource(flow) !== undefined || this.knownPeers.knows(flow, this.nowMs),
    });
    this.#incoming = incoming;
    this.#hosts = new PublicHosts(options);
  }

  /** Every `host:port` of our Vias in lower case. */
  get localSentBys(): ReadonlySet<string> {
    return this.#hosts.sentBys;
  }

  emit(output: UserAgentOutput): void {
    if (output.kind !== 'send') this.said(output);
    this.#outputs.push(output);
  }

  /** Time of the input being handled, in monotonic milliseconds. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /** Handles an input at a time and returns its outputs. Only this method sets the time. */
  at(nowMs: number, act: () => void): readonly UserAgentOutput[] {
    this.#nowMs = nowMs;
    act();
    const outputs = this.#outputs;
    this.#outputs = [];
    return outputs;
  }

  /** Returns an unpredictable tag or branch (RFC 3261 §19.3 requires at least 32 bits). */
  newToken(): string {
    return token(this.options.random, TAG_BITS);
  }

  /** Forwards the outputs of the transaction layer. */
  run(outputs: readonly TransactionOutput[]): void {
    for (const output of outputs) {
      switch (output.kind) {
        case 'send':
          this.emit(output);
          break;
        case 'response':
          this.#answered(output);
          break;
        case 'timeout':
          this.#fail(output.transaction, 'timeout');
          break;
        case 'transportError':
          this.#fail(output.transaction, 'transport');
          break;
        case 'terminated':
          this.clients.delete(output.transaction);
          this.servers.delete(output.transaction);
          break;
        default:
          this.#incoming(output);
      }
    }
  }

  /** Handles a response. After the final response, only a further 2xx to an accepted INVITE is expected. */
  #answered({
    transaction,
    response,
    flow,
  }: Extract<TransactionOutput, { kind: 'response' }>): void {
    const user = this.clients.get(transaction);
    const { status } = response;
    const isLast = status >= 300 || (status >= 200 && response.cseq.method !== 'INVITE');
    if (isLast) this.clients.delete(transaction);
    user?.response(response, flow);
  }

  #fail(transaction: TransactionId, how: 'timeout' | 'transport'): void {
    const user = this.clients.get(transaction);
    this.clients.delete(transaction);
    user?.failed(how);
  }

  /** Starts a client transaction over a flow and adds the Via to the request. */
  request(request: SipRequest, flow: Flow, user: ClientUser): TransactionId {
    const routed = this.#hosts
      .withContact(request, flow)
      .withPrependedHeader('Via', this.#via(request, flow));
    const { transaction, outputs } = this.layer.request(routed, flow, this.nowMs);
    this.clients.set(transaction, user);
    this.knownPeers.met(flow, this.nowMs);
    this.run(outputs);
    return transaction;
  }

  /** Sends an ACK to a 2xx outside of all transactions (§13.2.2.4). Returns the output to repeat for each further 2xx. */
  sendAck(ack: SipRequest, flow: Flow): Extract<UserAgentOutput, { kind: 'send' }> {
    const message = ack.withPrependedHeader('Via', this.#via(ack, flow));
    const output = {
      kind: 'send' as const,
      bytes: serialize(message),
      message,
      flow,
      transaction: undefined,
    };
    this.emit(output);
    return output;
  }

  /** Sends a response. */
  respond(
    transaction: TransactionId,
    request: SipRequest,
    status: number,
    parts: ResponseParts = {},
  ): void {
    this.send(transaction, this.response(request, status, parts));
  }

  /** Refuses a request; the refusal is logged in one line. */
  refuse(
    transaction: TransactionId,
    request: SipRequest,
    flow: Flow,
    status: number,
    why: string,
    parts: ResponseParts = {},
  ): void {
    this.respond(transaction, request, status, parts);
    this.emit({ kind: 'refused', method: request.method, status, why, flow });
  }

  send(transaction: TransactionId, response: SipResponse): void {
    // A later CANCEL has no effect (§9.2), so the leg is released.
    if (response.status >= 200) this.servers.delete(transaction);
    this.run(this.layer.respond(transaction, response, this.nowMs));
  }

  /** Builds a response with our Server header and, unless the caller gives one, a new To tag. */
  response(request: SipRequest, status: number, parts: ResponseParts = {}): SipResponse {
    const { reason, body, headers = [], toTag = this.newToken() } = parts;
    const all = headers.concat([this.#software]);
    return createResponse(request, status, { reason, body, toTag, headers: all });
  }

  /** Our Contact for a peer. Without a flow, it is for a peer over UDP with an unknown address. */
  contact(peer: Peer | undefined, kind: ContactKind = {}): string {
    return this.#hosts.contact(peer ?? { transport: 'udp' }, kind);
  }

  /** Targets of supported transports, unresponsive ones last. */
  usable(targets: readonly Target[]): Target[] {
    const { transports } = this.options;
    const supported = targets.filter(({ transport }) => transports.includes(transport));
    return this.unresponsive.inOrder(supported, this.nowMs);
  }

  /** Flow for requests over UDP to an address; all use the same socket. */
  udpFlow(address: string, port: number): Flow {
    const { localAddress, localPort } = this.options;
    return {
      transport: 'udp',
      localAddress,
      localPort,
      remoteAddress: address,
      remotePort: port,
      connectionId: undefined,
    };
  }

  /** Warning header field that a peer may show to its user (RFC 3261 §20.43). Empty without a warning. */
  warning(warning: HangupCommand['warning']): HeaderInit {
    if (warning === undefined) return [];
    const agent = bracketed(this.options.publicHost);
    return [['Warning', `${warning.code} ${agent} ${quote(warning.text)}`]];
  }

  /** Random Retry-After of 0 to 10 seconds for overlapping requests (§14.2). */
  retryAfter(): HeaderInit {
    return [['Retry-After', String(this.options.random.integer(11))]];
  }

  #via(request: SipRequest, flow: Flow): string {
    const branch = `${MAGIC_COOKIE}${this.newToken()}.${loopMark(request.requestUri)}`;
    return `SIP/2.0/${flow.transport.toUpperCase()} ${this.#hosts.sentBy(flow)};branch=${branch};rport`;
  }
}
