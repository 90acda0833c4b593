import type { SipTransportName } from '../types.ts';

/** One contact of an address of record (RFC 3261 §10), in the format in which it is stored. */
export interface ContactBinding {
  readonly username: string;
  readonly contactUri: string;
  readonly callId: string;
  readonly cseq: number;
  /** Expiry in microseconds since the epoch. */
  readonly expiresUs: number;
  readonly q: number;
  readonly instanceId: string | undefined;
  /** Flow number of the instance (RFC 5626 §4.2); absent without outbound support. */
  readonly regId?: number | undefined;
  readonly userAgent: string;
  /** Source of the REGISTER; requests to the contact are sent there (NAT, flows). */
  readonly flow: {
    readonly transport: SipTransportName;
    readonly address: string;
    readonly port: number;
    /** Connection of a stream flow. The flow ends with its connection. */
    readonly connectionId: string | undefined;
  };
  readonly path: readonly string[];
  /** ID of the temporary login that registered the contact; absent for the user itself. */
  readonly login?: string | undefined;
  readonly updatedUs: number;
}

/** A removed binding. */
export type ExpiredBinding = Pick<ContactBinding, 'username' | 'contactUri'>;

/**
 * Returns whether the binding outlives the process. An RFC 5626 flow over a connection does not: its phone registers
 * again when the connection closes (RFC 5626 §4.5).
 */
export const isLasting = ({ regId, flow }: ContactBinding): boolean =>
  regId === undefined || flow.transport === 'udp';

/** Returns whether calls to the binding require TLS on every hop (RFC 5630 §5.1). */
export const isSecureBinding = ({ contactUri }: ContactBinding): boolean =>
  contactUri.startsWith('sips:');

const isSamePhone = (a: ContactBinding, b: ContactBinding): boolean =>
  a.regId !== undefined && b.regId !== undefined && a.instanceId === b.instanceId;

/** Groups contacts by phone: the flows of one instance, the latest first. */
export function byPhone(
  bindings: readonly ContactBinding[],
): readonly (readonly ContactBinding[])[] {
  const phones: ContactBinding[][] = [];
  for (const binding of bindings) {
    const known = phones.find(([first]) => first !== undefined && isSamePhone(first, binding));
    if (known === undefined) phones.push([binding]);
    else known.push(binding);
  }
  return phones.map((flows) => flows.sort((a, b) => b.q - a.q || b.updatedUs - a.updatedUs));
}
