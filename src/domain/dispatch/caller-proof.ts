/** Caller identity: verification on inbound calls, signing on outbound calls (RFC 8224, RFC 8588). */
import { err, ok, type Result } from '../../base/result.ts';
import type { Call, DialPlan } from '../call/call.ts';
import type { CallerProofs, InboundLeg, OutboundTarget } from '../call/needs.ts';
import type { CallFacts } from '../callback/callback.ts';
import type { ProofPolicy } from '../provisioning/types.ts';
import type { Calling, Destined } from './destination.ts';
import type { DispatchNeeds } from './needs.ts';

export type Proved = Pick<CallFacts, 'stirVerification' | 'stirAttestation'>;

export interface ProofRefusal {
  readonly status: number;
  readonly why: string;
  readonly phrase?: string | undefined;
}

const NONE: Proved = { stirVerification: 'Not Applicable', stirAttestation: '' };
const UNPROVED: Proved = { stirVerification: 'Not Verified', stirAttestation: '' };

const isIdentity = ([name]: readonly [string, string]): boolean =>
  name.toLowerCase() === 'identity';

/** Verifies the caller's number; an error refuses the call. Without trust anchors, it verifies and refuses no call. */
export async function proofOf(
  leg: InboundLeg,
  policy: ProofPolicy,
  { verify }: CallerProofs,
): Promise<Result<Proved, ProofRefusal>> {
  const identity = leg.headers.filter(isIdentity).map(([, value]) => value);
  const isDemanded = policy === 'require' && verify !== undefined;
  if (identity.length === 0 && !isDemanded) return ok(NONE);
  if (policy === 'off' || verify === undefined) return ok(UNPROVED);
  const { from, claims, to, dialled, requestUri } = leg;
  const callers = [from, ...(claims?.asserted ?? [])];
  const proof = await verify({
    identity,
    orig: callers.flatMap(({ user, uri }) => [user, uri]),
    dest: [to.user, to.uri, dialled, requestUri],
    date: leg.headers.find(([name]) => name.toLowerCase() === 'date')?.[1],
  });
  if (proof.isVerified) {
    return ok({ stirVerification: 'Verified', stirAttestation: proof.attestation });
  }
  const { status, why, phrase } = proof;
  const isRefused = policy === 'require' || (policy === 'refuse' && status !== NO_PROOF);
  return isRefused ? err({ status, why, phrase }) : ok(UNPROVED);
}

/** Status 428 (Use Identity Header): the call has no Identity header field for its caller. */
const NO_PROOF = 428;

const isSigned = ({ kind, policy }: OutboundTarget, isHidden: boolean): boolean =>
  kind === 'carrier' && policy?.sign !== false && !(isHidden && policy?.identity === 'untrusted');

/** Attestation level for a caller ID; '' if signing is not configured. */
export type Standing = CallFacts['stirAttestation'];

/** Returns A if the account may use the number, C if another party passed the call to us, and B otherwise. */
export async function standingOf(
  { proofs, provisioning }: Pick<DispatchNeeds, 'proofs' | 'provisioning'>,
  { owner }: Calling,
  /** `parent`: call that this one follows from. */
  { callerId, parent }: { readonly callerId: string | undefined; readonly parent?: Call },
): Promise<Standing> {
  if (proofs.sign === undefined || callerId === undefined || !/^\d+$/.test(callerId)) return '';
  if (await provisioning.callerIds.owns(owner.authId, callerId)) return 'A';
  return parent?.identity.context === 'did' ? 'C' : 'B';
}

/** Returns the attestation level for a destination; '' if no target gets a signature. */
export const attestedTo = (standing: Standing, destined: Destined | undefined): Standing =>
  destined?.targets.some((target) => isSigned(target, false)) === true ? standing : '';

/** Returns the signing function for the INVITEs of a call with an attestation level. */
export function signing(
  { proofs: { sign }, logger }: Pick<DispatchNeeds, 'proofs' | 'logger'>,
  { facts, identity }: Call,
): Pick<DialPlan, 'sign'> {
  const { stirAttestation: attestation, to: dest } = facts;
  const orig = identity.caller?.asserted ?? facts.from;
  if (sign === undefined || attestation === '') return {};
  return {
    sign: async (target) => {
      if (!isSigned(target, identity.caller?.hidden === true)) return [];
      try {
        const statement = { orig, dest, attestation, account: identity.accountId };
        return [['Identity', await sign(statement)]];
      } catch (error) {
        logger.error({ error, callUuid: facts.callUuid }, 'call not signed');
        return [];
      }
    },
  };
}
