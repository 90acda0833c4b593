/** Whose number a B leg shows (spec: Dial; decisions: caller id ownership). */
import { err, ok, type Result } from '../../base/result.ts';
import type { Call, DialPlan } from '../call/call.ts';
import type { PresentedCaller } from '../call/needs.ts';
import type { BLegRequest } from '../interpreter/interpreter.ts';
import { ANONYMOUS } from './caller.ts';
import { type Standing, standingOf } from './caller-proof.ts';
import { isOurs } from './custom-headers.ts';
import type { Calling, Destinations, Destined, DialRefusal } from './destination.ts';
import type { DispatchNeeds } from './needs.ts';

/** The called party is a phone of the account: it may see who calls by name. */
const isColleague = (planned: Result<Destined, DialRefusal>): boolean =>
  planned.ok
    ? planned.value.endpointId !== undefined
    : planned.error.cause === 'endpointNotRegistered';

export interface Presented {
  readonly callerId: string;
  /** The name that goes with it where the document names none. */
  readonly callerName: string;
  /** The caller asked for privacy, and the document names no other caller ID. */
  readonly hidden: boolean;
  /** Number or name of a hidden caller, for trusted peers only; undefined if it is `callerId` or unknown. */
  readonly asserted: string | undefined;
  /** What we can state of the number. */
  readonly standing: Standing;
}

/** A call's own caller as its called party sees it. */
export const presentedCaller = ({ facts, identity: { caller } }: Call): PresentedCaller => ({
  user: facts.from,
  displayName: facts.callerName,
  ...(caller?.hidden === true ? { hidden: true, asserted: caller.asserted } : {}),
});

/**
 * What `a` hands on to `b`. A proof of the caller's number holds for the same numbers only (RFC 8224 §6.2), so that it goes
 * on where neither has changed.
 */
export function onwardOf(
  a: Call,
  b: Call,
  { passedHeaders: passed }: DispatchNeeds['settings'],
): Required<Pick<DialPlan, 'onward'>> & Pick<DialPlan, 'maxForwards'> {
  const { headers, maxForwards } = a.onward();
  const isSame = a.facts.from === b.facts.from && a.facts.to === b.facts.to;
  // An Identity header field names the number of a hidden caller.
  const isProofKept = isSame && a.identity.caller?.hidden !== true;
  const kept = headers.filter(
    ([name]) => !isOurs(name) && (isProofKept || name.toLowerCase() !== 'identity'),
  );
  return { onward: { headers: kept, passed }, maxForwards };
}

/**
 * The caller id of the document; without one the number of the A leg, or, where the A leg is an endpoint, the number of the
 * account that the phone asks for, or what was set for such calls. A SIP user name is shown to endpoints of the account alone.
 */
export async function presentedBy(
  needs: Pick<DispatchNeeds, 'provisioning' | 'proofs'>,
  destinations: Destinations,
  calling: Calling,
  request: BLegRequest,
  planned: Result<Destined, DialRefusal>,
): Promise<Result<Presented, DialRefusal>> {
  const { parent } = request;
  const asked = askedFor(request);
  const names = isColleague(planned);
  const isOfEndpoint = parent.identity.context === 'sip-endpoint' && !names;
  const { caller } = parent.identity;
  const wanted =
    asked ??
    (isOfEndpoint
      ? (caller?.presented ?? (await defaultOf(needs, calling, parent)))
      : parent.facts.from);
  if (wanted === undefined) {
    return foreign(
      'Dial has no callerId, and neither the endpoint, its application nor the account has a default one',
    );
  }
  const hidden = asked === undefined && caller?.hidden === true;
  // An account may pass on a withheld number under the same rules as a shown one.
  const asserted = hidden && !isOfEndpoint ? caller?.asserted : undefined;
  const owned = await destinations.callerId(calling, asserted ?? wanted, { names });
  const callerId = owned === undefined || asserted === undefined ? owned : wanted;
  if (callerId === undefined) {
    return foreign(
      asked === undefined
        ? `Dial has no callerId, and ${wanted} is not one of the account`
        : `the caller id ${asked} is not one of the account`,
    );
  }
  const isAsOnALeg = asked === undefined && !isOfEndpoint;
  const standing = await standingOf(needs, calling, { callerId: asserted ?? callerId, parent });
  const callerName = isAsOnALeg ? parent.facts.callerName : '';
  return ok({ callerId, callerName, hidden, asserted, standing });
}

/** The caller ID of the document; undefined if it only repeats the anonymous `From` of a hidden caller. */
function askedFor({ callerId, parent: { identity } }: BLegRequest): string | undefined {
  const isHidden = identity.caller?.hidden === true && callerId?.toLowerCase() === ANONYMOUS;
  return isHidden ? undefined : callerId;
}

async function defaultOf(
  { provisioning: { endpoints, applications } }: Pick<DispatchNeeds, 'provisioning'>,
  { owner, account }: Calling,
  { identity }: Call,
): Promise<string | undefined> {
  const { endpointId } = identity;
  const found =
    endpointId === undefined ? undefined : await endpoints.get(owner.authId, endpointId);
  const endpoint = found?.ok === true ? found.value : undefined;
  const appId = endpoint?.appId ?? account.defaultEndpointApp ?? owner.defaultEndpointApp;
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
