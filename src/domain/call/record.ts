import { maskSecrets } from '../../base/mask.ts';
import { ZERO } from '../../base/money.ts';
import { type HangupFacts, hangupParameters } from '../callback/callback.ts';
import type { StoredNotification } from '../callback/types.ts';
import { closeCall } from '../cdr/cdr.ts';
import type { OpenCall } from '../cdr/needs.ts';
import type { Cdr } from '../cdr/types.ts';
import { consentOf } from './consent.ts';
import type { CallEnd } from './end-cause.ts';
import { HANGUP_CAUSES } from './hangup-cause.ts';
import type { Recorded } from './recorded.ts';

export interface RecordSettings {
  /** Value of the hangup source when the platform ended the call. */
  readonly platformName: string;
  readonly hangupCallStatus: 'spec' | 'vendor';
}

const STILL_RUNNING: CallEnd = {
  cause: 'unknown',
  source: 'Unknown',
  disposition: 'send_bye',
  detail: undefined,
};

/** Builds the CDR of a call with the given `end`. Costs are added by `closeCall`. */
function cdrOf(call: Recorded, end: CallEnd, settings: RecordSettings): Cdr {
  const { identity, price } = call;
  const { facts } = identity;
  const cause = HANGUP_CAUSES[end.cause];
  return {
    callUuid: identity.callUuid,
    accountId: identity.accountId,
    subAccount: identity.subAccount,
    direction: facts.direction,
    context: identity.context,
    from: maskSecrets(facts.from),
    to: maskSecrets(facts.to),
    callerName: facts.callerName,
    requestUuid: facts.requestUuid,
    parentCallUuid: identity.parentCallUuid,
    bridgeUuid: call.bridgeUuid,
    startUs: facts.sessionStartUs,
    ringUs: call.ringUs,
    answerUs: call.answerUs,
    endUs: call.endUs ?? call.nowUs(),
    billedMs: 0,
    perMinute: price.perMinute,
    cost: ZERO,
    streamingCost: ZERO,
    currency: price.currency,
    hangupCause: cause.cause,
    hangupCauseCode: cause.code,
    hangupCauseName: cause.name,
    hangupSource: end.source === 'Platform' ? settings.platformName : end.source,
    hangupDisposition: end.disposition,
    failureReason: end.detail && maskSecrets(end.detail),
    sipCallId: call.peer.sipCallId,
    sipUserAgent: call.peer.userAgent,
    remoteAddress: call.peer.remoteAddress,
    carrier: call.peer.carrier,
    codec: call.codec,
    quality: call.quality,
    endpointId: identity.endpointId,
    trunkId: identity.trunkId,
    terminatedTo: identity.terminatedTo && maskSecrets(identity.terminatedTo),
    campaignId: identity.campaignId,
    machine: call.machine,
    stirVerification: facts.stirVerification,
    stirAttestation: facts.stirAttestation,
    ...consentFacts(call),
    streams: call.streams.past,
  };
}

/** Without an answer, the party has not agreed. */
function consentFacts(call: Recorded): Pick<Cdr, 'consent' | 'consentUs'> {
  const consent = consentOf(call);
  if (consent === undefined) return {};
  return {
    consent: consent.status === 'given' ? 'given' : 'refused',
    consentUs: consent.atUs,
  };
}

/** Builds the stored record of an active call. It suffices to bill the call and to notify its application after a crash. */
export function openRecord(
  call: Recorded,
  retained: { readonly reserved: OpenCall['reserved']; readonly notificationId: string },
  settings: RecordSettings,
): OpenCall {
  const cdr = cdrOf(call, STILL_RUNNING, settings);
  return {
    cdr,
    pulseMs: call.price.pulseMs,
    streamPulseMs: call.price.streamPulseMs,
    reserved: retained.reserved,
    streams: call.streams.open,
    hangupNotification: hangupNotification(call, cdr, retained.notificationId, settings),
    heartbeatUs: call.nowUs(),
  };
}

/** Builds the final CDR, with answered time and streams priced. */
export function finalRecord(
  call: Recorded,
  reserved: OpenCall['reserved'],
  end: CallEnd,
  settings: RecordSettings,
): Cdr {
  const cdr = cdrOf(call, end, settings);
  const { pulseMs, streamPulseMs } = call.price;
  const open = { cdr, reserved, pulseMs, streamPulseMs, streams: call.streams.open };
  return closeCall(open, cdr, 'Call hangup');
}

export function hangupNotification(
  call: Recorded,
  cdr: Cdr,
  id: string,
  settings: RecordSettings,
): StoredNotification | undefined {
  if (call.hangupTarget === undefined) return undefined;
  const end: HangupFacts = {
    startUs: cdr.startUs,
    answerUs: cdr.answerUs,
    endUs: cdr.endUs,
    billedMs: cdr.billedMs,
    hangupCause: cdr.hangupCause,
    hangupCauseCode: cdr.hangupCauseCode,
    hangupCauseName: cdr.hangupCauseName,
    hangupSource: cdr.hangupSource,
    failureReason: cdr.failureReason,
    callStatus: settings.hangupCallStatus === 'spec' ? 'completed' : outcome(cdr),
  };
  return {
    id,
    accountId: call.identity.subAccount ?? call.identity.accountId,
    subject: call.uuid,
    event: 'Hangup',
    target: call.hangupTarget,
    parameters: hangupParameters(call.facts, end),
    createdUs: call.nowUs(),
    attempts: 0,
  };
}

/** Returns CallStatus with vendor-compatible values (setting compat.hangupCallStatus = vendor; dialect §5.4). */
function outcome(cdr: Cdr): HangupFacts['callStatus'] {
  if (cdr.answerUs !== undefined) return 'completed';
  if (cdr.hangupCause === 'USER_BUSY') return 'busy';
  if (cdr.hangupCauseCode === HANGUP_CAUSES.ringTimeout.code) return 'timeout';
  if (cdr.hangupCause === 'NO_ANSWER') return 'no-answer';
  return cdr.hangupCause === 'ORIGINATOR_CANCEL' ? 'cancel' : 'failed';
}
