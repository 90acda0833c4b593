/** Where SIP and RTP may go for a customer: what the egress policy permits, but never to this service itself. */
import { isIP } from 'node:net';
import type { Destination, DestinationGuard, Place, RtpVerdict } from '../../base/egress.ts';
import {
  type AddressPolicy,
  createAddressPolicy,
  isLoopback,
  plainAddress,
} from './address-policy.ts';

/** This service as others reach it. */
export interface OwnPlaces {
  /** An address of this machine, or one under which the service is known outside. */
  isAddress(address: string): boolean;
  /** A port that this service listens on: SIP, HTTP, or RTP of a leg that lives. */
  isListening(port: number): boolean;
  /** A port of the RTP range, whether a leg has it now or not. */
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
    isOwn: (address) => isOwn({ address, port: 0 }),

    refusesSip(destination) {
      const { address, port } = destination;
      if (isIP(address) === 0) return `${address} is no IP address`;
      if (isOwn(destination) && own.isListening(port)) return ownPlace(destination);
      if (wasHeardAt(destination)) return undefined;
      if (isAllowedBesides(destination) || isListed(policy, destination)) return undefined;
      const refusal = policy.refusal(address);
      if (refusal !== undefined) return refusal;
      return isOwn(destination) && !isLoopback(address) ? ownPlace(destination) : undefined;
    },

    judgeRtp(destination, rtcpPort): RtpVerdict {
      const { address, port, heardAt } = destination;
      const refuse = { kind: 'refuse', why: ownPlace(destination) } as const;
      if (isIP(address) === 0) return { kind: 'learn', why: `${address} is no IP address` };
      const isHere = isOwn(destination);
      if (isHere && own.isListening(port)) return refuse;
      // A phone on this machine may have the port below one of ours: it has its call, without reports to us.
      const rtcp = isHere && own.isListening(rtcpPort) ? ({ rtcp: 'learn' } as const) : {};
      const send = { kind: 'send', ...rtcp } as const;
      const plain = plainAddress(address);
      if (heardAt.some((heard) => plainAddress(heard.address) === plain)) return send;
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

/** A peer is answered where it was heard, and where a peer at that address would listen for SIP. */
function wasHeardAt({ address, port, heardAt }: Destination): boolean {
  const plain = plainAddress(address);
  return heardAt.some(
    (heard) =>
      plainAddress(heard.address) === plain && (heard.port === port || SIP_PORTS.has(port)),
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

/** Of lists that stay as they are: a carrier's addresses. */
const policies = new WeakMap<readonly string[], AddressPolicy>();

const plainName = (name: string): string => name.toLowerCase().replace(/\.$/, '');
