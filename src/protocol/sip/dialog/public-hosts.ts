import { bracketed } from '../../../base/host.ts';
import { formatNameAddr } from '../header/name-addr.ts';
import type { SipRequest } from '../message.ts';
import type { Flow } from '../transport/flow.ts';
import { type SipTransportName, TRANSPORT_NAMES, TRANSPORTS } from '../types.ts';
import { formatHostPort, formatUri, sipUri } from '../uri.ts';
import type { UserAgentOptions } from '../user-agent-types.ts';

type Options = Pick<UserAgentOptions, 'publicHost' | 'publicHost6' | 'publicPort' | 'publicPorts'>;

/** Part of a flow that selects our host. Without an address, the peer's address is not known yet. */
export type Peer = Pick<Flow, 'transport'> & Partial<Pick<Flow, 'remoteAddress'>>;

/** `user`: user part for incoming calls (REGISTER). `secure`: `sips:` URI. */
export interface ContactKind {
  readonly user?: string;
  readonly secure?: boolean;
}

const isIpv6 = (peer: Peer): boolean => peer.remoteAddress?.includes(':') === true;

/** Our host and port in Via and Contact: those of the peer's address family and transport. */
export class PublicHosts {
  readonly #options: Options;
  readonly #host: string;
  /** Host for peers with IPv6. */
  readonly #host6: string;
  /** Contacts without a user. */
  readonly #contacts = new Map<string, string>();
  /** Every `host:port` of our Vias in lower case. */
  readonly sentBys: ReadonlySet<string>;

  constructor(options: Options) {
    this.#options = options;
    this.#host = bracketed(options.publicHost);
    this.#host6 = bracketed(options.publicHost6 ?? options.publicHost);
    this.sentBys = new Set(
      TRANSPORT_NAMES.flatMap((transport) =>
        [this.#host, this.#host6].map((host) =>
          formatHostPort(host, this.#port(transport)).toLowerCase(),
        ),
      ),
    );
  }

  /** Value of `sent-by` in Via (RFC 3261 §18.1.1). */
  sentBy(peer: Peer): string {
    return formatHostPort(this.#hostFor(peer), this.#port(peer.transport));
  }

  /** Our Contact for that peer. `sips:` URIs need no transport for TLS (RFC 5630 §3.1.1). */
  contact(peer: Peer, kind: ContactKind): string {
    if (kind.user !== undefined) return this.#contact(peer, kind);
    const key = `${peer.transport} ${kind.secure === true} ${isIpv6(peer)}`;
    let contact = this.#contacts.get(key);
    if (contact === undefined) {
      contact = this.#contact(peer, kind);
      this.#contacts.set(key, contact);
    }
    return contact;
  }

  /**
   * Sets the host of the Contact to that of the flow's address family. A request is written before its flow is known,
   * and further targets of one name may have another family.
   */
  withContact(request: SipRequest, flow: Flow): SipRequest {
    if (this.#host === this.#host6) return request;
    const { contact } = request;
    const host = this.#hostFor(flow);
    if (contact?.uri.kind !== 'sip' || contact.uri.host === host) return request;
    return request.withHeader(
      'Contact',
      formatNameAddr({ ...contact, uri: { ...contact.uri, host } }),
    );
  }

  #contact(peer: Peer, { user = '', secure = false }: ContactKind): string {
    const name = TRANSPORTS[peer.transport].uriName;
    const isImplied = name === 'udp' || (secure && name === 'tls');
    const params = new Map(isImplied ? [] : [['transport', name]]);
    const port = this.#port(peer.transport);
    return `<${formatUri(sipUri({ user, host: this.#hostFor(peer), port, params, secure }))}>`;
  }

  #hostFor(peer: Peer): string {
    return isIpv6(peer) ? this.#host6 : this.#host;
  }

  #port(transport: SipTransportName): number {
    const { publicPort, publicPorts } = this.#options;
    return publicPorts?.[transport] ?? publicPort;
  }
}
