/** One destination of a request on its way to a call. */
import type { CallUuid, RequestUuid } from '../../base/ids.ts';
import type { Result } from '../../base/result.ts';
import type { CallIdentity } from '../call/call.ts';
import { attestedTo, type Standing } from './caller-proof.ts';
import type { Destination, LiveCall, PlaceCallsRequest } from './control.ts';
import type { Calling, Destined, DialRefusal } from './destination.ts';

/** One destination of a request, with what all of them share. */
export interface Placement {
  readonly request: PlaceCallsRequest;
  readonly requestUuid: RequestUuid;
  readonly callUuid: CallUuid;
  readonly destination: Destination;
  readonly calling: Calling;
  /** As it is presented; undefined: the account may not present the one it asked for. */
  readonly callerId: string | undefined;
  /** What we can state of that number. */
  readonly standing: Standing;
  readonly acceptedUs: number;
  /** Of a campaign's call. */
  readonly campaignId?: string | undefined;
}

/** Where it goes, or why it does not go anywhere. */
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

/** A destination that waits for its turn, as it is listed. */
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
