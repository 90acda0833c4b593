/** Caller ID of B legs (spec: Dial; decisions: caller id ownership). */
import { err, ok, type Result } from '../../base/result.ts';
import type { Call, DialPlan } from '../call/call.ts';
import type { PresentedCaller } from '../call/needs.ts';
import type { BLegRequest } from '../interpreter/interpreter.ts';
import { ANONYMOUS } from './caller.ts';
import { type Standing, standingOf } from './caller-proof.ts';
import { isOurs } from './custom-headers.ts';
import type { Calling, Destinations, Destined, DialRefusal } from './destination.ts';
import type { DispatchNeeds } from './needs.ts';

/** True if the called party is an endpoint of the account. It may see endpoint usernames. */
const isColleague = (planned: Result<Destined, DialRefusal>): boolean =>
  planned.ok
    ? planned.value.endpointId !== undefined
    : planned.error.cause === 'endpointNotRegistered';

export interface Presented {
  readonly callerId: string;
  /** Default caller name, if the document has none. */
  readonly callerName: string;
  /** True if the caller asked for privacy and the document sets no other caller ID. */
  readonly hidden: boolean;
  /** Number or name of a hidden caller, for trusted peers only; undefined if it is `callerId` or unknown. */
  readonly asserted: string | undefined;
  /** Attestation level for the number. */
  readonly standing: Standing;
}

/** Returns the caller of a call as its called party sees it. */
export const presentedCaller = ({ facts, identity: { caller } }: Call): PresentedCaller => ({
  user: facts.from,
  displayName: facts.callerName,
  ...(caller?.hidden === true ? { hidden: true, asserted: caller.asserted } : {}),
});

/**
 * Returns the header fields and hops that `a` passes on to `b`. A signed caller identity applies only to the same
 * numbers (RFC 8224 §6.2), so it is kept only if both are unchanged.
 */
export function onwardOf(
  a: Call,
  b: Call,
  { passedHeaders: passed }: DispatchNeeds['settings'],
): Required<Pick<DialPlan, 'onward'>> & Pick<DialPlan, 'maxForwards'> {
  const { headers, maxForwards } = a.onward();
  const isSame = a.facts.from === b.facts.from && a.facts.to === b.facts.to;
  // An Identity header field reveals the number of a hidden caller.
  const isProofKept = isSame && a.identity.caller?.hidden !== true;
  const retained = headers.filter(
    ([name]) => !isOurs(name) && (isProofKept || name.toLowerCase() !== 'identity'),
  );
  return { onward: { headers: retained, passed }, maxForwards };
}

/**
 * Determines the caller ID. Priority: the document's caller ID, then the A leg's number. For an endpoint's call, the
 * number that the phone requests, then the configured default. A call to a number of the account also uses the default if
 * its caller's number is foreign. Endpoint usernames are shown only to endpoints of the account.
 */
export async function presentedBy(
  needs: Pick<DispatchNeeds, 'provisioning' | 'proofs'>,
  destinations: Destinations,
  calling: Calling,
  request: BLegRequest,
  planned: Result<Destined, DialRefusal>,
): Promise<Result<Presented, DialRefusal>> {
  const { parent } = request;
  const requested = requestedFor(request);
  const names = isColleague(planned);
  const isOfEndpoint = parent.identity.context === 'sip-endpoint' && !names;
  const { caller } = parent.identity;
  const wanted =
    requested ??
    (isOfEndpoint
      ? (caller?.presented ?? (await defaultOf(needs, calling, parent)))
      : parent.facts.from);
  if (wanted === undefined) {
    return foreign(
      'Dial has no callerId, and the endpoint, its application and the account have no default caller ID',
    );
  }
  const hidden = requested === undefined && caller?.hidden === true;
  // An account may pass on a withheld number under the same rules as a visible one.
  const asserted = hidden && !isOfEndpoint ? caller?.asserted : undefined;
  const owned = await destinations.callerId(calling, asserted ?? wanted, { names });
  const callerId = owned === undefined || asserted === undefined ? owned : wanted;
  if (callerId === undefined) {
    if (requested === undefined && parent.identity.context === 'did') {
      const own = await defaultOf(needs, calling, parent);
      if (own !== undefined)
        return presentedBy(needs, destinations, calling, { ...request, callerId: own }, planned);
    }
    return foreign(
      requested === undefined
        ? `Dial has no callerId, and ${wanted} is not a caller ID of this account`
        : `${requested} is not a caller ID of this account`,
    );
  }
  const isAsOnALeg = requested === undefined && !isOfEndpoint;
  const standing = await standingOf(needs, calling, { callerId: asserted ?? callerId, parent });
  const callerName = isAsOnALeg ? parent.facts.callerName : '';
  return ok({ callerId, callerName, hidden, asserted, standing });
}

/** Returns the caller ID of the document; undefined if it only repeats the anonymous `From` of a hidden caller. */
function requestedFor({ callerId, parent: { identity } }: BLegRequest): string | undefined {
  const isHidden = identity.caller?.hidden === true && callerId?.toLowerCase() === ANONYMOUS;
  return isHidden ? undefined : callerId;
}

/** Returns the default caller ID: of the endpoint, of the application of the endpoint or dialled number, or of the account. */
async function defaultOf(
  { provisioning: { endpoints, applications, numbers } }: Pick<DispatchNeeds, 'provisioning'>,
  { owner, account }: Calling,
  { identity: { context, endpointId }, facts }: Call,
): Promise<string | undefined> {
  const found =
    endpointId === undefined ? undefined : await endpoints.get(owner.authId, endpointId);
  const endpoint = found?.ok === true ? found.value : undefined;
  const dialled = context === 'did' ? await numbers.get(facts.to, owner.authId) : undefined;
  const appId =
    dialled === undefined
      ? (endpoint?.appId ?? account.defaultEndpointApp ?? owner.defaultEndpointApp)
      : dialled.ok
        ? dialled.value.applicationId
        : undefined;
  const application = appId === undefined ? undefined : await applications.get(owner.authId, appId);
  return (
    endpoint?.callerId ??
    (application?.ok === true ? application.value.callerId : undefined) ??
    account.defaultCallerId ??
    owner.defaultCallerId
  );
}

const foreign = (detail: string): Result<never, DialRefusal> =>
  err({ cause: 'unknownCallerId', source: 'Platform', detail });
