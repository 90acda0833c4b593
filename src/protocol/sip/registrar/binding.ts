/** One contact of an address of record (RFC 3261 §10); the shape in which it is kept. */
export interface ContactBinding {
  readonly username: string;
  readonly contactUri: string;
  readonly callId: string;
  readonly cseq: number;
  /** Microseconds since the epoch. */
  readonly expiresUs: number;
  readonly q: number;
  readonly instanceId: string | undefined;
  /** Which of the flows of its instance it is (RFC 5626 §4.2); absent: none of several. */
  readonly regId?: number | undefined;
  readonly userAgent: string;
  /** Where the REGISTER came from: requests to the contact go there (NAT, flows). */
  readonly flow: {
    readonly transport: 'udp' | 'tcp' | 'tls' | 'ws' | 'wss';
    readonly address: string;
    readonly port: number;
    /** Connection-oriented flows die with their connection. */
    readonly connectionId: string | undefined;
  };
  readonly path: readonly string[];
  /** The login for a time that registered it; absent: the user itself. */
  readonly login?: string | undefined;
  readonly updatedUs: number;
}

/** One that is no more. */
export type GoneBinding = Pick<ContactBinding, 'username' | 'contactUri'>;

/**
 * Whether it outlives the process: a flow of several over a connection does not, and its phone registers it again when the
 * connection is gone (RFC 5626 §4.5).
 */
export const isLasting = ({ regId, flow }: ContactBinding): boolean =>
  regId === undefined || flow.transport === 'udp';

/** Calls to it are protected to the end (RFC 5630 §5.1). */
export const isSecureBinding = ({ contactUri }: ContactBinding): boolean =>
  contactUri.startsWith('sips:');
