/** One destination of a request, before it becomes a call. */
import type { CallUuid, RequestUuid } from '../../base/ids.ts';
import type { Result } from '../../base/result.ts';
import type { CallIdentity } from '../call/call.ts';
import { attestedTo, type Standing } from './caller-proof.ts';
import type { Destination, LiveCall, PlaceCallsRequest } from './control.ts';
import type { Calling, Destined, DialRefusal } from './destination.ts';

/** One destination, with the properties that all destinations of the request share. */
export interface Placement {
  readonly request: PlaceCallsRequest;
  readonly requestUuid: RequestUuid;
  readonly callUuid: CallUuid;
  readonly destination: Destination;
  readonly calling: Calling;
  /** Presented caller ID; undefined if the account may not present the requested one. */
  readonly callerId: string | undefined;
  /** Attestation level for the caller ID. */
  readonly standing: Standing;
  readonly acceptedUs: number;
  /** Campaign that places the call, if any. */
  readonly campaignId?: string | undefined;
}

/** Destination, or the reason for its refusal. */
export type Planned = Result<Destined, DialRefusal>;

export function identityOf(placement: Placement, planned: Planned, nowUs: number): CallIdentity {
  const { calling, callUuid, requestUuid, request, destination, callerId, standing } = placement;
  const typed = destination.kind === 'number' ? destination.number : destination.uri;
  return {
    callUuid,
    accountId: calling.owner.authId,
    subAccount: request.subAccount,
    country: calling.account.country,
    context: 'voice-api',
    parentCallUuid: undefined,
    endpointId: undefined,
    trunkId: undefined,
    terminatedTo: undefined,
    campaignId: placement.campaignId,
    facts: {
      callUuid,
      requestUuid,
      direction: 'outbound',
      from: callerId ?? request.from,
      to: planned.ok ? planned.value.to : typed,
      callerName: request.callerName ?? '',
      parentAuthId: calling.owner.authId,
      routeType: 'pstn',
      sessionStartUs: nowUs,
      stirVerification: 'Not Applicable',
      stirAttestation: attestedTo(standing, planned.ok ? planned.value : undefined),
      forwardedFrom: '',
      sipHeaders: [],
      machine: undefined,
    },
  };
}

/** Describes a queued destination for the REST API. */
export function queuedCall({ request, requestUuid, callUuid, ...waiting }: Placement): LiveCall {
  const { destination, calling, callerId, acceptedUs } = waiting;
  return {
    callUuid,
    requestUuid,
    accountId: calling.owner.authId,
    subAccount: request.subAccount,
    direction: 'outbound',
    status: 'queued',
    from: callerId ?? request.from,
    to: destination.kind === 'number' ? destination.number : destination.uri,
    callerName: request.callerName ?? '',
    startUs: acceptedUs,
    answerUs: undefined,
    stirVerification: 'Not Applicable',
    stirAttestation: '',
    bots: [],
  };
}
