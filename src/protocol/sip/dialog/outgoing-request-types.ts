import type { ClientAuth } from '../auth/client-auth.ts';
import type { SipRequest, SipResponse } from '../message.ts';
import type { Flow } from '../transport/flow.ts';
import type { Destination } from './next-hop.ts';

export type RequestFailure = 'timeout' | 'transport' | 'unreachable' | 'notAllowed';

export interface RequestUser {
  /** Receives every response except those that cause another attempt. */
  response(response: SipResponse, flow: Flow): void;
  /** `why` explains why a destination is not allowed. */
  failed(how: RequestFailure, why?: string): void;
  /** Receives a 2xx from a target that was abandoned before it sent any response. */
  late?(response: SipResponse, flow: Flow): void;
}

export interface OutgoingRequestOptions {
  /** Request without Via. */
  readonly request: SipRequest;
  readonly destination: Destination;
  readonly auth: ClientAuth | undefined;
  /** True if the destination was configured together with `auth`, and not named by the peer. Default: false. */
  readonly isConfigured?: boolean;
  /** CSeq of the next attempt: the next of the dialog, or the previous one plus one. */
  readonly nextSequence: () => number;
  readonly user: RequestUser;
  /** Offer for targets with IPv6, instead of the body of `request`. */
  readonly offer6?: string | undefined;
  /** Address of the peer, if it is not that of the target. */
  readonly peerAddress?: string | undefined;
  /**
   * Time limit in milliseconds for any response, including 100, shared by all targets of one name. When it elapses, the
   * request fails by timeout. Undefined: 64*T1 for each target.
   */
  readonly firstResponseMs?: number | undefined;
}
