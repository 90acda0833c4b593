import { bracketed } from '../../../base/host.ts';
import type { ClientAuth } from '../auth/client-auth.ts';
import { parseNameAddr } from '../header/name-addr.ts';
import type { HeaderInit } from '../message.ts';
import { type ContactBinding, isSecureBinding } from '../registrar/binding.ts';
import type { Flow } from '../transport/flow.ts';
import { isWebSocket } from '../types.ts';
import { formatUri, parseUri } from '../uri.ts';
import type { DestinationGuard, ReceivedAt, Target, UserAgentOutput } from '../user-agent-types.ts';
import { SDP_TYPE } from './capabilities.ts';
import type { UserAgentCore } from './core.ts';
import { type Dialog, type RoutedRequest, routed } from './dialog.ts';
import { type Destination, nextHopOf } from './next-hop.ts';
import { OutgoingRequest } from './outgoing-request.ts';
import type { RequestUser } from './outgoing-request-types.ts';

const NONE: HeaderInit = [];

export interface PeerRouteOptions {
  /** Flow of the peer's last request. */
  readonly flow: Flow | undefined;
  /** True to send on the peer's flow (a phone behind NAT), false to send to its Contact (a carrier). */
  readonly viaFlow: boolean;
  /** Guard for a customer's peer: checks the destinations of its Contact and Record-Route before sending. */
  readonly guard: DestinationGuard | undefined;
  /** User of a registered phone. Default: the peer is not registered. */
  readonly username?: string | undefined;
  readonly auth: ClientAuth | undefined;
  /**
   * True if requests above 1300 bytes try TCP first when the peer's Contact names no transport (RFC 3261 §18.1.1).
   * Default: false.
   */
  readonly largeOverTcp?: boolean | undefined;
}

/** Route to the peer of a dialog; sends requests along it. */
export class PeerRoute {
  readonly #core: UserAgentCore;
  readonly #dialog: Dialog;
  readonly #auth: ClientAuth | undefined;
  readonly #viaFlow: boolean;
  readonly #guard: DestinationGuard | undefined;
  readonly #username: string | undefined;
  readonly #largeOverTcp: boolean;
  #flow: Flow | undefined;
  /** Last flow. Its transport and address family remain in use after its connection has closed. */
  #last: Flow | undefined;
  #receivedAt: ReceivedAt | undefined;
  /** True if the peer's WebSocket has closed and no new connection replaced it. */
  #isLost = false;

  constructor(core: UserAgentCore, dialog: Dialog, options: PeerRouteOptions) {
    this.#core = core;
    this.#dialog = dialog;
    this.#auth = options.auth;
    this.#viaFlow = options.viaFlow;
    this.#guard = options.guard;
    this.#username = options.username;
    this.#largeOverTcp = options.largeOverTcp ?? false;
    this.#flow = options.flow;
    this.#last = options.flow;
    this.#note(options.flow);
  }

  /** Our Contact as this peer reaches it. */
  get contact(): string {
    return this.#core.contact(this.#last, { secure: this.#dialog.isSecure });
  }

  /**
   * Records the flow of a valid request, because NAT may have changed it. Returns true if this restores a lost
   * connection.
   */
  received(flow: Flow): boolean {
    if (this.#viaFlow) {
      this.#flow = flow;
      this.#last = flow;
    }
    this.#note(flow);
    const wasLost = this.#isLost;
    this.#isLost = false;
    return wasLost;
  }

  /** Returns whether the last request of the peer came from that address. */
  isFrom({ remoteAddress }: Flow): boolean {
    return this.#receivedAt?.address === remoteAddress;
  }

  /**
   * Handles a closed connection. Returns true if the peer is unreachable: a browser is reachable only over its
   * WebSocket (RFC 7118 §5).
   */
  connectionLost(connectionId: number): boolean {
    const flow = this.#flow;
    if (flow?.connectionId !== connectionId) return false;
    this.#flow = undefined;
    this.#isLost = isWebSocket(flow.transport) && this.#viaFlow && !this.#dialog.hasRouteSet;
    return this.#isLost;
  }

  /** Sends a request in the dialog. */
  send(
    method: string,
    parts: { readonly headers?: HeaderInit; readonly body?: string },
    user: RequestUser,
  ): OutgoingRequest {
    const software = ['User-Agent', this.#core.options.userAgent] as const;
    const headers = (parts.headers ?? NONE).concat([software]);
    const routed = this.#dialog.request(method, { headers, body: parts.body });
    const outgoing = new OutgoingRequest(this.#core, {
      request: routed.request,
      destination: this.#destination(routed),
      auth: this.#auth,
      nextSequence: () => this.#dialog.takeSequence(),
      user,
    });
    outgoing.start();
    return outgoing;
  }

  /**
   * Acknowledges a 2xx with the credentials of its INVITE (RFC 3261 §22.1). `sent` receives the ACK to repeat if the 2xx
   * is retransmitted, or undefined if there is no flow to the peer.
   */
  acknowledge(
    { sequence, sdp }: { readonly sequence: number; readonly sdp?: string | undefined },
    sent: (output: Extract<UserAgentOutput, { kind: 'send' }> | undefined) => void,
  ): void {
    const headers: HeaderInit = sdp === undefined ? NONE : [['Content-Type', SDP_TYPE]];
    const routed = this.#dialog.request('ACK', { sequence, headers, body: sdp });
    findFlow(this.#core, this.#destination(routed), (flow) => {
      if (flow === undefined) {
        sent(undefined);
        return;
      }
      let ack = routed.request;
      for (const [name, value] of this.#auth?.ofInvite(flow.remoteAddress) ?? NONE)
        ack = ack.withAddedHeader(name, value);
      sent(this.#core.sendAck(ack, flow));
    });
  }

  /**
   * Destination of a request: the peer's flow if the policy says so and there is no proxy, otherwise the route set or
   * Contact.
   */
  #destination(routed: RoutedRequest): Destination {
    const { isSecure: secure, hasRouteSet } = this.#dialog;
    const flow = this.#flow ?? this.#flowOfRegistration();
    if (flow !== undefined && !hasRouteSet && (this.#viaFlow || leadsTo(routed.nextHop, flow))) {
      return { kind: 'flow', flow };
    }
    const nextHop = secure ? secured(routed.nextHop) : routed.nextHop;
    const largeOverTcp = this.#largeOverTcp && nextHopOf(nextHop, undefined)?.transportIsOpen;
    const transport = this.#last?.transport;
    const uri = { kind: 'uri', uri: nextHop, transport, largeOverTcp } as const;
    if (this.#guard === undefined) return uri;
    const { receivedAt } = this.#guard;
    const here = this.#receivedAt === undefined ? receivedAt : [...receivedAt, this.#receivedAt];
    return { ...uri, guard: { ...this.#guard, receivedAt: here }, otherwise: this.#flow };
  }

  /**
   * Flow of the phone after its connection has closed: that of its Contact, or the only one from the same address. A
   * phone often registers the new connection with another Contact. Behind NAT it accepts no connections. Several phones
   * behind one NAT differ in the host of their Contacts.
   */
  #flowOfRegistration(): Flow | undefined {
    const last = this.#last;
    if (!this.#viaFlow || this.#username === undefined || last === undefined) return undefined;
    const direct = this.#core.contactsOf(this.#username).filter(({ path }) => path.length === 0);
    const { remoteTarget } = this.#dialog;
    const there = direct.filter(({ flow }) => flow.address === last.remoteAddress);
    const binding =
      direct.find(({ contactUri }) => contactUri === remoteTarget) ??
      onlyOf(there) ??
      onlyOf(there.filter(({ contactUri }) => hostOf(contactUri) === hostOf(remoteTarget)));
    return binding === undefined ? undefined : flowOf(this.#core, binding);
  }

  #note(flow: Flow | undefined): void {
    if (flow !== undefined)
      this.#receivedAt = { address: flow.remoteAddress, port: flow.remotePort };
  }
}

const onlyOf = <T>(list: readonly T[]): T | undefined => (list.length === 1 ? list[0] : undefined);

function hostOf(uriText: string): string | undefined {
  const uri = parseUri(uriText);
  return uri?.kind === 'sip' ? uri.host.toLowerCase() : undefined;
}

/**
 * Returns whether the peer's Contact has the address of its connection. Requests then use the connection, whatever port
 * the Contact has. RFC 5923 requires an alias for unauthenticated connections, but not within the dialog that started
 * on the connection.
 */
function leadsTo(uri: string, flow: Flow): boolean {
  if (flow.connectionId === undefined) return false;
  const hop = nextHopOf(uri, flow.transport);
  if (hop?.kind !== 'target') return false;
  const { transport, address } = hop.target;
  return transport === flow.transport && address === flow.remoteAddress;
}

/** Same URI with the scheme `sips:`. */
function secured(uriText: string): string {
  const uri = parseUri(uriText);
  return uri?.kind === 'sip' ? formatUri({ ...uri, secure: true }) : uriText;
}

/**
 * Finds a flow for an ACK to a 2xx, which is outside of all transactions: to the first target that other requests would
 * use and to which a connection can be opened, or undefined.
 */
function findFlow(
  core: UserAgentCore,
  destination: Destination,
  found: (flow: Flow | undefined) => void,
): void {
  if (destination.kind === 'flow') {
    found(destination.flow);
    return;
  }
  const { guard, otherwise } = destination;
  const hop = nextHopOf(destination.uri, destination.transport, guard);
  if (hop?.kind === 'target') {
    flowTo(core, hop.target, found);
    return;
  }
  const id =
    hop === undefined
      ? undefined
      : core.resolving.ask(({ targets }) => {
          const usable = core.usable(targets);
          if (usable.length === 0) found(otherwise);
          else flowToAny(core, usable, found);
        });
  if (hop === undefined || id === undefined) found(undefined);
  else core.emit({ kind: 'resolve', id, query: hop.query, guard });
}

function flowToAny(
  core: UserAgentCore,
  [first, ...others]: readonly Target[],
  found: (flow: Flow | undefined) => void,
): void {
  if (first === undefined) {
    found(undefined);
    return;
  }
  flowTo(core, first, (flow) => {
    if (flow === undefined) flowToAny(core, others, found);
    else found(flow);
  });
}

function flowTo(
  core: UserAgentCore,
  target: Target,
  found: (flow: Flow | undefined) => void,
): void {
  const hop = core.edgeWays?.living(target, core.nowMs) ?? target;
  if (hop.transport === 'udp') {
    found(core.udpFlow(hop.address, hop.port));
    return;
  }
  const id = core.connecting.ask(found);
  if (id === undefined) found(undefined);
  else core.emit({ kind: 'connect', id, target: hop });
}

/** Route of a request to a registered contact. */
export interface ContactRoute {
  /** Address of record, with the scheme used for its registration. */
  readonly to: string;
  readonly route: ReturnType<typeof routed>;
  readonly destination: Destination;
  readonly guard: DestinationGuard;
}

/** Route along the Path (RFC 3327 §5.4), otherwise over the flow of the registration. */
export function routeTo(core: UserAgentCore, binding: ContactBinding): ContactRoute {
  const scheme = isSecureBinding(binding) ? 'sips' : 'sip';
  const to = `${scheme}:${binding.username}@${bracketed(core.options.publicHost)}`;
  const path = binding.path.map(parseNameAddr).filter((hop) => hop !== undefined);
  const route = routed(path, binding.contactUri);
  const { address, port } = binding.flow;
  const guard = { receivedAt: [{ address, port }], allow: [] };
  const destination = destinationOf(core, binding, { nextHop: route.nextHop, guard });
  return { to, route, destination, guard };
}

/** Destination of a Path or Contact. If sending there is not allowed, it is the source of the registration. */
function destinationOf(
  core: UserAgentCore,
  binding: ContactBinding,
  { nextHop, guard }: { readonly nextHop: string; readonly guard: DestinationGuard },
): Destination {
  const flow = flowOf(core, binding);
  const hasPath = binding.path.length > 0;
  if (flow !== undefined && !hasPath) return { kind: 'flow', flow };
  const transport = hasPath ? undefined : binding.flow.transport;
  return { kind: 'uri', uri: nextHop, transport, guard, otherwise: flow };
}

/** Returns undefined if the connection closed when its process ended. */
function flowOf(core: UserAgentCore, { flow }: ContactBinding): Flow | undefined {
  const plain = core.udpFlow(flow.address, flow.port);
  if (flow.transport === 'udp') return plain;
  if (flow.connectionId === undefined) return undefined;
  return { ...plain, transport: flow.transport, connectionId: Number(flow.connectionId) };
}
