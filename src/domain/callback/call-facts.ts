import type { AccountId, CallUuid, RequestUuid } from '../../base/ids.ts';
import type { CallDirection } from '../cdr/types.ts';
import type { CallbackParameters } from './types.ts';

/** Outcome of caller ID authentication (spec, StartApp). */
type StirVerification = 'Verified' | 'Not Verified' | 'Not Applicable';

/** Facts about a call that every callback reports (spec "Call callbacks", dialect §5.1). Plain data. */
export interface CallFacts {
  readonly callUuid: CallUuid;
  /** Request ID of an outbound REST call. Undefined for an inbound call. */
  readonly requestUuid: RequestUuid | undefined;
  readonly direction: CallDirection;
  /** A number with or without `+`, or a `sip:` URI. */
  readonly from: string;
  readonly to: string;
  /** Display name: the received name of an inbound call (reported if not empty), or the presented name of an outbound call. */
  readonly callerName: string;
  /** Main account that owns the call (dialect §0.2 rule 9). */
  readonly parentAuthId: AccountId;
  /** `sip` if a registered endpoint placed the call (spec rule 2). */
  readonly routeType: 'sip' | 'pstn';
  /** Creation time of the call, microseconds UTC. */
  readonly sessionStartUs: number;
  readonly stirVerification: StirVerification;
  readonly stirAttestation: '' | 'A' | 'B' | 'C';
  /** Diversion of an inbound call, or '' if there is none. */
  readonly forwardedFrom: string;
  /** X-PH-… and X-VH-… headers of the INVITE, and `SIP-H-To` of calls from SIP. Passed on in callbacks. */
  readonly sipHeaders: CallbackParameters;
  /** Result of synchronous machine detection. Undefined until known. */
  readonly machine: boolean | undefined;
}
