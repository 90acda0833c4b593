import type { Call } from '../call/call.ts';
import type { LiveCall } from './control.ts';

/** A running call in the words of those who ask about it. */
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
