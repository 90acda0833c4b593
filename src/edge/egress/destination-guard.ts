/** Permitted destinations of customers' SIP and RTP: those of the egress policy, except this service itself. */
import { isIP } from 'node:net';
import type { Destination, DestinationGuard, Place, RtpVerdict } from '../../base/egress.ts';
import {
  type AddressPolicy,
  createAddressPolicy,
  isLoopback,
  plainAddress,
} from './address-policy.ts';
import { systemResolver } from './system-resolver.ts';

/** Addresses and ports of this service. */
export interface OwnPlaces {
  /** Whether the address belongs to this machine or is a public address of the service. */
  isAddress(address: string): boolean;
  /** Whether the service listens on this port for SIP or HTTP, or for RTP of an active leg. */
  isListening(port: number): boolean;
  /** Whether the port is in the RTP range, used or not. */
  isRtpRange(port: number): boolean;
}

export interface DestinationGuardOptions {
  readonly allow: readonly string[];
  readonly allowLoopback: boolean;
  readonly own: OwnPlaces;
}

const SIP_PORTS: ReadonlySet<number> = new Set([5060, 5061]);

export function createDestinationGuard(options: DestinationGuardOptions): DestinationGuard {
  const { own, allowLoopback } = options;
  const policy = createAddressPolicy(options.allow, allowLoopback);
  const isOwn = ({ address }: Place): boolean => isLoopback(address) || own.isAddress(address);

  return {
    addressesOf: async (name) => (await systemResolver(name)).map(({ address }) => address),

    isOwn: (address) => isOwn({ address, port: 0 }),

    refusesSip(destination) {
      const { address, port } = destination;
      if (isIP(address) === 0) return `${address} is not an IP address`;
      if (isOwn(destination) && own.isListening(port)) return ownPlace(destination);
      if (wasHeardAt(destination)) return undefined;
      if (isAllowedBesides(destination) || isListed(policy, destination)) return undefined;
      const refusal = policy.refusal(address);
      if (refusal !== undefined) return refusal;
      return isOwn(destination) && !isLoopback(address) ? ownPlace(destination) : undefined;
    },

    judgeRtp(destination, rtcpPort): RtpVerdict {
      const { address, port, receivedAt } = destination;
      const refuse = { kind: 'refuse', why: ownPlace(destination) } as const;
      if (isIP(address) === 0) return { kind: 'learn', why: `${address} is not an IP address` };
      const isHere = isOwn(destination);
      if (isHere && own.isListening(port)) return refuse;
      // A phone on this machine may use the port just below a service port. The call works, but sends no RTCP there.
      const rtcp = isHere && own.isListening(rtcpPort) ? ({ rtcp: 'learn' } as const) : {};
      const send = { kind: 'send', ...rtcp } as const;
      const plain = plainAddress(address);
      if (receivedAt.some((received) => plainAddress(received.address) === plain)) return send;
      if (isAllowedBesides(destination) || isListed(policy, destination)) return send;
      const refusal = policy.refusal(address);
      if (refusal !== undefined) return { kind: 'learn', why: refusal, ...rtcp };
      if (!isHere || isLoopback(address)) return send;
      return own.isRtpRange(port)
        ? refuse
        : { kind: 'learn', why: ownPlace(destination), rtcp: 'learn' };
    },
  };
}

const ownPlace = ({ address, port }: Place): string =>
  `${address}:${port} is an address of this service`;

/** Whether the peer was heard at this address, on the same port or on a default SIP port. */
function wasHeardAt({ address, port, receivedAt }: Destination): boolean {
  const plain = plainAddress(address);
  return receivedAt.some(
    (received) =>
      plainAddress(received.address) === plain && (received.port === port || SIP_PORTS.has(port)),
  );
}

const isListed = (policy: AddressPolicy, { address, name }: Destination): boolean =>
  policy.lists(address) || (name !== undefined && policy.allowsName(plainName(name)));

function isAllowedBesides(destination: Destination): boolean {
  const { allow } = destination;
  if (allow.length === 0) return false;
  let policy = policies.get(allow);
  if (policy === undefined) {
    policy = createAddressPolicy(allow, false);
    policies.set(allow, policy);
  }
  return isListed(policy, destination);
}

/** Cached policies of constant lists, such as the addresses of a carrier. */
const policies = new WeakMap<readonly string[], AddressPolicy>();

const plainName = (name: string): string => name.toLowerCase().replace(/\.$/, '');
