/** Builds the parameters of call callbacks (spec "Call callbacks", dialect §5). Pure functions of the call facts. */
import { secondsOf } from '../../base/duration.ts';
import { answeredTimeMs } from '../../base/money.ts';
import { localDateTime, sessionStart } from '../../base/time-format.ts';
import type { CallFacts } from './call-facts.ts';
import type { CallbackParameters } from './types.ts';

export type CallStatus =
  | 'ringing'
  | 'in-progress'
  | 'completed'
  | 'busy'
  | 'failed'
  | 'timeout'
  | 'no-answer'
  | 'cancel';

/** Facts about the end of a call for its hangup callback. */
export interface HangupFacts {
  readonly startUs: number;
  readonly answerUs: number | undefined;
  readonly endUs: number;
  /** Answered time rounded up to whole pulses, in milliseconds. */
  readonly billedMs: number;
  readonly hangupCause: string;
  readonly hangupCauseCode: number;
  readonly hangupCauseName: string;
  readonly hangupSource: string;
  /** Reason why the call was not answered, if it says more than the name of the cause. */
  readonly failureReason: string | undefined;
  /** Reported status. The spec fixes `completed`; other services report the outcome (setting compat.hangupCallStatus). */
  readonly callStatus: CallStatus;
}

type Pair = readonly [name: string, value: string];

/** Numbers that need no conversion. */
const NUMBER = /^\d+$/;

/** Formats a party: numbers without `+`, SIP parties as `sip:user@host` (dialect §5). */
export function partyParameter(party: string): string {
  if (NUMBER.test(party)) return party;
  const sip = /^(sips?:)([^;?>]+)/i.exec(party);
  if (sip !== null) {
    const [, scheme = '', address = ''] = sip;
    return `${scheme.toLowerCase()}${address.replace(/:\d+$/, '')}`;
  }
  return party.replace(/^tel:/i, '').replace(/;.*$/s, '').replace(/^\+/, '');
}

/**
 * Returns the standard parameters of every callback that requests a document (dialect §5.1): StartApp, Redirect, and
 * the `action` URLs of elements, which add their own parameters.
 */
export function standardParameters(
  facts: CallFacts,
  event: string,
  status: CallStatus,
): CallbackParameters {
  const list = parties(facts).concat(callerName(facts), identity(facts), [
    ['Event', event],
    ['CallStatus', status],
    ['SessionStart', sessionStart(facts.sessionStartUs)],
    ['RouteType', facts.routeType],
    ['STIRVerification', facts.stirVerification],
    ['STIRAttestation', facts.stirAttestation],
    ['ParentAuthID', facts.parentAuthId],
  ]);
  if (facts.forwardedFrom !== '') list.push(['ForwardedFrom', partyParameter(facts.forwardedFrom)]);
  return list.concat(machine(facts), facts.sipHeaders);
}

/**
 * Returns the parameters of `answer_url` and `fallback_url`. The status is in-progress on outbound and answered
 * calls, otherwise ringing (dialect §5.2).
 */
export const startAppParameters = (facts: CallFacts, isAnswered = false): CallbackParameters =>
  standardParameters(
    facts,
    'StartApp',
    facts.direction === 'inbound' && !isAnswered ? 'ringing' : 'in-progress',
  );

/** Returns the parameters of `ring_url`: those of the spec plus the account (dialect §5.3, §0.2 rule 9). */
export const ringParameters = (facts: CallFacts): CallbackParameters => [
  ...parties(facts),
  ...identity(facts).filter(([name]) => name !== 'ALegUUID'),
  ['Event', 'Ring'],
  ['CallStatus', 'ringing'],
  ['SessionStart', sessionStart(facts.sessionStartUs)],
  ['STIRAttestation', facts.stirAttestation],
  ['ParentAuthID', facts.parentAuthId],
];

const HANGUP_EVENT: Pair = ['Event', 'Hangup'];

/** Returns the parameters of `hangup_url`: those of the spec plus the vendors' additions, except costs (dialect §5.4). */
export function hangupParameters(facts: CallFacts, end: HangupFacts): CallbackParameters {
  const { startUs, answerUs, endUs, billedMs, failureReason } = end;
  // Runs several times per call, so it builds one list instead of concatenating several.
  const list: Pair[] = [
    ['From', partyParameter(facts.from)],
    ['To', partyParameter(facts.to)],
    ['CallUUID', facts.callUuid],
    ['Direction', facts.direction],
    HANGUP_EVENT,
    ['stir_verification', facts.stirVerification],
    ['CallStatus', end.callStatus],
    ['StartTime', localDateTime(startUs / 1000)],
    ['AnswerTime', answerUs === undefined ? '' : localDateTime(answerUs / 1000)],
    ['EndTime', localDateTime(endUs / 1000)],
    ['SessionStart', sessionStart(facts.sessionStartUs)],
    ['STIRAttestation', facts.stirAttestation],
    ['ParentAuthID', facts.parentAuthId],
    ['Duration', String(secondsOf(answeredTimeMs(answerUs, endUs)))],
    ['BillDuration', String(secondsOf(billedMs))],
    ['HangupCause', end.hangupCause],
    ['HangupCauseCode', String(end.hangupCauseCode)],
    ['HangupCauseName', end.hangupCauseName],
    ['HangupSource', end.hangupSource],
  ];
  if (facts.requestUuid !== undefined)
    list.splice(3, 0, ...ofRequest(facts.requestUuid, facts.callUuid));
  if (failureReason !== undefined && answerUs === undefined)
    list.push(['FailureReason', failureReason]);
  if (facts.machine !== undefined) list.push(['Machine', String(facts.machine)]);
  for (const header of facts.sipHeaders) list.push(header);
  return list;
}

/** Returns the parameters of `machine_detection_url`: the asynchronous result (dialect §5.5). */
export const machineDetectionParameters = (
  facts: CallFacts,
  isMachine: boolean,
): CallbackParameters => [
  ...parties(facts),
  ...identity(facts),
  ['Event', 'MachineDetection'],
  ['CallStatus', 'in-progress'],
  ['Machine', String(isMachine)],
  ['IfMachine', String(isMachine)],
  ['SessionStart', sessionStart(facts.sessionStartUs)],
  ['ParentAuthID', facts.parentAuthId],
];

const parties = (facts: CallFacts): Pair[] => [
  ['From', partyParameter(facts.from)],
  ['To', partyParameter(facts.to)],
];

/** Returns the caller name of an inbound call (spec, StartApp; dialect §5.2). Outbound calls omit it. */
const callerName = ({ callerName: name, direction }: CallFacts): Pair[] =>
  name === '' || direction === 'outbound' ? [] : [['CallerName', name]];

/** Returns the ID parameters. An inbound call has no request and no A-leg fields (dialect §5.2). */
function identity({ callUuid, requestUuid, direction }: CallFacts): Pair[] {
  const list: Pair[] = [
    ['CallUUID', callUuid],
    ['Direction', direction],
  ];
  if (requestUuid !== undefined) list.splice(1, 0, ...ofRequest(requestUuid, callUuid));
  return list;
}

const ofRequest = (requestUuid: string, callUuid: string): Pair[] => [
  ['RequestUUID', requestUuid],
  ['ALegRequestUUID', requestUuid],
  ['ALegUUID', callUuid],
];

const machine = (facts: CallFacts): Pair[] =>
  facts.machine === undefined ? [] : [['Machine', String(facts.machine)]];
