import type { Call } from '../call/call.ts';
import type { LiveCall } from './control.ts';

/** Describes a live call for the REST API. */
export function liveCallOf(call: Call): LiveCall {
  const { identity } = call;
  const { facts } = identity;
  return {
    callUuid: call.uuid,
    requestUuid: facts.requestUuid,
    accountId: identity.accountId,
    subAccount: identity.subAccount,
    direction: facts.direction,
    status: call.isAnswered ? 'in-progress' : 'ringing',
    from: facts.from,
    to: facts.to,
    callerName: facts.callerName,
    startUs: facts.sessionStartUs,
    answerUs: call.answerUs,
    stirVerification: facts.stirVerification,
    stirAttestation: facts.stirAttestation,
    bots: call.streams.open.flatMap(({ serviceUrl }) => URL.parse(serviceUrl)?.host ?? []),
  };
}
