import { ClientAuth } from '../auth/client-auth.ts';
import { formatNameAddr } from '../header/name-addr.ts';
import { createRequest, type HeaderInit, type SipRequest } from '../message.ts';
import { byPhone, type ContactBinding, isSecureBinding } from '../registrar/binding.ts';
import type { Registrar } from '../registrar/registrar.ts';
import type { SipTransportName } from '../types.ts';
import { sipUri } from '../uri.ts';
import type { InviteCommand, LegId } from '../user-agent-types.ts';
import {
  ALLOWED_AND_SUPPORTED,
  ALLOWED_AND_SUPPORTED_UNRELIABLY,
  SDP_TYPE,
} from './capabilities.ts';
import type { UserAgentCore } from './core.ts';
import { routed } from './dialog.ts';
import { type Destination, nextHopOf } from './next-hop.ts';
import { type BranchPlan, OutboundLeg } from './outbound.ts';
import { routeTo } from './peer-route.ts';

const OF_SDP: HeaderInit = [['Content-Type', SDP_TYPE]];

/** Destination of one INVITE and its route-specific parts. */
interface Where {
  readonly route: { readonly requestUri: string; readonly routes: readonly string[] };
  readonly to: string;
  readonly callId: string;
  readonly transport: SipTransportName;
}

/** Creates outbound legs and their initial INVITEs. */
export class OutboundCalls {
  readonly #core: UserAgentCore;
  readonly #registrar: Registrar | undefined;
  readonly #legs = new Map<LegId, OutboundLeg>();

  constructor(core: UserAgentCore, registrar: Registrar | undefined) {
    this.#core = core;
    this.#registrar = registrar;
  }

  get size(): number {
    return this.#legs.size;
  }

  leg(id: LegId): OutboundLeg | undefined {
    return this.#legs.get(id);
  }

  invite(command: InviteCommand): void {
    const leg = new OutboundLeg(this.#core, command.leg, () => this.#legs.delete(command.leg));
    this.#legs.set(command.leg, leg);
    leg.start(this.#plans(command), command.answerMs);
  }

  #plans(command: InviteCommand): readonly BranchPlan[] {
    const { target } = command;
    if (target.kind === 'registered') {
      const contacts = this.#registrar?.contactsOf(target.username) ?? [];
      const usable = target.secure ? contacts.filter(isSecureBinding) : contacts;
      return byPhone(usable).map((flows, index) => this.#toPhone(command, flows, index));
    }
    const route = routed(this.#core.serviceRoutes.get(target.registrar ?? '') ?? [], target.uri);
    const destination: Destination = {
      kind: 'uri',
      uri: target.nextHop ?? route.nextHop,
      transport: target.transport,
      largeOverTcp: target.largeOverTcp,
      guard: target.guard,
      viaEdges: target.viaFlow !== true,
    };
    const request = this.#request(command, {
      route,
      to: target.uri,
      callId: command.callId,
      transport: this.#transportTo(destination),
    });
    const viaFlow = target.viaFlow ?? this.#core.options.realm === undefined;
    return [this.#plan(command, request, { destination, viaFlow, guard: target.guard })];
  }

  /**
   * Plans an INVITE over the phone's first flow. The other flows follow if it does not reach the phone (RFC 5626 §5.3).
   */
  #toPhone(command: InviteCommand, flows: readonly ContactBinding[], index: number): BranchPlan {
    // Each phone gets a unique Call-ID, which separates phones behind one address. Traces use the first one.
    const callId = index === 0 ? command.callId : `${command.callId}-${index}`;
    const plans = flows.map((binding) => this.#toContact(command, binding, callId));
    const [first, ...others] = plans.toReversed();
    return others.reduce((otherFlow, plan) => ({ ...plan, otherFlow }), first as BranchPlan);
  }

  /**
   * Plans an INVITE to a registered contact: along its Path (RFC 3327 §5.4), otherwise over the flow of its
   * registration.
   */
  #toContact(command: InviteCommand, binding: ContactBinding, callId: string): BranchPlan {
    const { to, route, destination, guard } = routeTo(this.#core, binding);
    const { transport } = binding.flow;
    const request = this.#request(command, { route, to, callId, transport });
    const viaFlow = destination.kind === 'flow';
    const flowFailed = (): void => this.#registrar?.flowFailed(binding);
    const plan = this.#plan(command, request, { destination, viaFlow, guard });
    const { flow, username } = binding;
    return { ...plan, peerAddress: flow.address, username, flowFailed };
  }

  /** Transport named in our Contact. DNS may select another one; the service listens on all of them. */
  #transportTo(destination: Destination): SipTransportName {
    if (destination.kind === 'flow') return destination.flow.transport;
    const hop = nextHopOf(destination.uri, destination.transport);
    const transport = hop?.kind === 'target' ? hop.target.transport : hop?.query.transport;
    const isByEdge = this.#core.edgeWays !== undefined && destination.viaEdges === true;
    return transport === undefined || (isByEdge && transport !== 'tls') ? 'udp' : transport;
  }

  #plan(
    command: InviteCommand,
    request: SipRequest,
    way: Pick<BranchPlan, 'destination' | 'viaFlow' | 'guard'>,
  ): BranchPlan {
    const { account, sdp, sdp6 } = command;
    const auth =
      account === undefined ? undefined : new ClientAuth(account, this.#core.options.random);
    return { request, sdp, sdp6, ...way, auth, firstResponseMs: command.firstResponseMs };
  }

  #request(command: InviteCommand, where: Where): SipRequest {
    const { from } = command;
    const { requestUri, routes } = where.route;
    const { displayName, user, host } = from;
    const uri = sipUri({ user, host });
    const own: HeaderInit = [
      ['Max-Forwards', String(command.maxForwards ?? 70)],
      ['From', formatNameAddr({ displayName, uri, tag: this.#core.newToken() })],
      ['To', `<${where.to}>`],
      ['Call-ID', where.callId],
      ['CSeq', '1 INVITE'],
      ['Contact', this.#core.contact(where, { secure: requestUri.startsWith('sips:') })],
    ];
    const route: HeaderInit = routes.map((hop) => ['Route', hop]);
    const headers = route.concat(
      own,
      command.sdp === undefined ? ALLOWED_AND_SUPPORTED_UNRELIABLY : ALLOWED_AND_SUPPORTED,
      [['User-Agent', this.#core.options.userAgent]],
      command.headers,
      command.sdp === undefined ? [] : OF_SDP,
    );
    return createRequest({ method: 'INVITE', requestUri, headers, body: command.sdp });
  }
}
