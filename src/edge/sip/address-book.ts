/** Classifies SIP addresses: this service, a carrier, or another destination. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { DestinationGuard } from '../../base/egress.ts';
import { unbracketed } from '../../base/host.ts';
import type { SipAddress, SipAddresses } from '../../domain/call/needs.ts';
import type { Carrier } from '../../domain/provisioning/types.ts';
import {
  defaultPort,
  parseUri,
  type Target,
  type TargetQuery,
  unescapeUser,
} from '../../protocol/sip/sip.ts';
import { inRanges } from './source-match.ts';

export interface AddressBookOptions {
  readonly publicHost: string;
  readonly publicHost6?: string | undefined;
  /** Returns whether the service listens on that port. */
  readonly listensOn: (port: number) => boolean;
  readonly egress: Pick<DestinationGuard, 'isOwn'>;
  readonly carriers: () => readonly Carrier[];
  /** Resolves the addresses of a carrier (RFC 3263). */
  readonly resolve: (query: TargetQuery) => Promise<readonly Target[]>;
  readonly monotonicMs: () => number;
}

/** Lifetime of resolved carrier addresses in milliseconds. */
const FRESH_MS = 30_000;

interface Known {
  readonly untilMs: number;
  readonly targets: readonly Target[];
}

export class AddressBook implements SipAddresses {
  readonly #options: AddressBookOptions;
  readonly #known = new Map<string, Known>();

  constructor(options: AddressBookOptions) {
    this.#options = options;
  }

  read(text: string): SipAddress | undefined {
    const uri = parseUri(text);
    if (uri?.kind !== 'sip') return undefined;
    const host = plainHost(uri.host);
    return {
      user: unescapeUser(uri.user),
      host,
      port: uri.port,
      secure: uri.secure,
      whose: this.#whose(host, uri.port),
    };
  }

  /** Resolves the addresses of all carriers; fresh ones are not resolved again. */
  async locateCarriers(): Promise<void> {
    const { carriers, monotonicMs } = this.#options;
    const nowMs = monotonicMs();
    const all = carriers();
    for (const key of this.#known.keys()) {
      if (!all.some((carrier) => keyOf(carrier) === key)) this.#known.delete(key);
    }
    const stale = all.filter(
      (carrier) => (this.#known.get(keyOf(carrier))?.untilMs ?? nowMs) <= nowMs,
    );
    await Promise.all(stale.map((carrier) => this.#locate(carrier)));
  }

  /** Carrier at that address. `host` is the queried name if `address` is the result of a DNS query. */
  carrierAt(place: { readonly address: string; readonly port: number; readonly host?: string }) {
    const { address, port, host } = place;
    const isThere = (carrier: Carrier): boolean => {
      const isNamed = host !== undefined && plainHost(carrier.host) === plainHost(host);
      if (isNamed && !isLoopback(address) && plainHost(host) !== 'localhost') return true;
      const targets = this.#known.get(keyOf(carrier))?.targets ?? [];
      // On loopback all peers share one address, so only the port distinguishes a carrier from a phone.
      if (isLoopback(address)) {
        return (
          targets.some((target) => same(target.address, address) && target.port === port) ||
          this.#isOnPort(carrier, address, port)
        );
      }
      return (
        targets.some((target) => same(target.address, address)) ||
        same(carrier.host, address) ||
        inRanges(address, carrier.sourceAddresses)
      );
    };
    return this.#options.carriers().find(isThere)?.name;
  }

  #whose(host: string, port: number | undefined): SipAddress['whose'] {
    if (this.#isOurs(host, port)) return 'ours';
    const sipPort = port ?? defaultPort('udp');
    return this.carrierAt({ address: host, port: sipPort, host }) === undefined
      ? 'elsewhere'
      : 'carrier';
  }

  #isOurs(host: string, port: number | undefined): boolean {
    const { publicHost, publicHost6 = publicHost, egress } = this.#options;
    const isNamed = plainHost(publicHost) === host || plainHost(publicHost6) === host;
    if (!isNamed && !(isIP(host) !== 0 && egress.isOwn(host))) return false;
    // Other programs may listen on loopback, so the port must be one of this service.
    if (isLoopback(host))
      return (
        (isNamed && port === undefined) || (port !== undefined && this.#options.listensOn(port))
      );
    return true;
  }

  async #locate(carrier: Carrier): Promise<void> {
    const { resolve, monotonicMs } = this.#options;
    const { host, port, transport } = carrier;
    const bare = unbracketed(host);
    const targets = await resolve({ host: bare, port, transport, secure: false });
    const before = this.#known.get(keyOf(carrier))?.targets ?? [];
    // If DNS fails temporarily, the previous addresses remain in use.
    const known = targets.length > 0 ? targets : before;
    this.#known.set(keyOf(carrier), { untilMs: monotonicMs() + FRESH_MS, targets: known });
  }

  #isOnPort(carrier: Carrier, address: string, port: number): boolean {
    return same(carrier.host, address) && (carrier.port ?? defaultPort(carrier.transport)) === port;
  }
}

const keyOf = ({ name, host, port, transport }: Carrier): string =>
  `${name} ${host} ${port ?? ''} ${transport}`;

const plainHost = (host: string): string => {
  const bare = unbracketed(host).toLowerCase().replace(/\.$/, '');
  return ipaddr.isValid(bare) ? ipaddr.process(bare).toString() : bare;
};

const same = (one: string, other: string): boolean => plainHost(one) === plainHost(other);

const isLoopback = (host: string): boolean =>
  isIP(host) !== 0 && ipaddr.process(host).range() === 'loopback';
