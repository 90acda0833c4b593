import type { AccountId, CallUuid, RequestUuid } from '../../base/ids.ts';
import type { CallDirection } from '../cdr/types.ts';
import type { CallbackParameters } from './types.ts';

/** Outcome of caller id authentication (spec, StartApp). */
export type StirVerification = 'Verified' | 'Not Verified' | 'Not Applicable';

/** What every callback tells about its call (spec "Call callbacks", dialect §5.1). Plain values, no behaviour. */
export interface CallFacts {
  readonly callUuid: CallUuid;
  /** Of an outbound REST call; undefined on an inbound one. */
  readonly requestUuid: RequestUuid | undefined;
  readonly direction: CallDirection;
  /** A number with or without `+`, or a `sip:` URI. */
  readonly from: string;
  readonly to: string;
  /** Of an inbound call the name that came with it, told when not empty; of an outbound one the name that we present. */
  readonly callerName: string;
  /** Main account that owns the call (dialect §0.2 rule 9). */
  readonly parentAuthId: AccountId;
  /** `sip`: a registered endpoint dialled out (spec rule 2). */
  readonly routeType: 'sip' | 'pstn';
  /** Microseconds UTC at which the call came into being. */
  readonly sessionStartUs: number;
  readonly stirVerification: StirVerification;
  readonly stirAttestation: '' | 'A' | 'B' | 'C';
  /** Diversion of an inbound call; '' when none. */
  readonly forwardedFrom: string;
  /** X-PH-… and X-VH-… headers of the INVITE, and `SIP-H-To` of SIP origin, to be passed on. */
  readonly sipHeaders: CallbackParameters;
  /** Result of synchronous machine detection; undefined: not (yet) known. */
  readonly machine: boolean | undefined;
}
