/** Callbacks of a `Dial` to its `callbackUrl` (dialect §2.1, Dial). */
import type { DialInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import type { CallEnd } from '../../call/call.ts';
import { HANGUP_CAUSES, type HangupCauseKey, type HangupSource } from '../../call/types.ts';
import { partyParameter } from '../../callback/callback.ts';
import type { CallbackParameters, CallbackTarget } from '../../callback/types.ts';
import { notify } from '../call-callbacks.ts';
import type { VerbContext } from '../needs.ts';
import { type DialledLeg, legDurations, type UnplacedAttempt } from './dialled-leg.ts';

type Happening = 'answer' | 'connected' | 'digits' | 'hangup';

const EVENT: Readonly<Record<Happening, string>> = {
  answer: 'DialAnswer',
  connected: 'DialConnected',
  digits: 'DialDigitsMatch',
  hangup: 'DialHangup',
};

/** Callback values of one attempt to reach a destination. */
interface Reported {
  /** UUID of the B leg; empty if no leg was created. */
  readonly uuid: string;
  readonly from: string;
  readonly to: string;
  readonly position: number;
}

const reportOf = ({ call, position }: DialledLeg): Reported => ({
  uuid: call.uuid,
  from: call.facts.from,
  to: call.facts.to,
  position,
});

/** Failure reason of an attempt; empty after an answer (dialect §3.6: failure_reason). */
export const failureReason = (
  detail: string | undefined,
  answerUs: number | undefined,
): CallbackParameters =>
  detail === undefined || answerUs !== undefined ? [] : [['DialBLegFailureReason', detail]];

export class DialEvents {
  readonly #context: VerbContext;
  readonly #target: CallbackTarget | undefined;

  constructor(instruction: DialInstruction, context: VerbContext) {
    const { callbackUrl: url, callbackMethod: method } = instruction;
    this.#context = context;
    this.#target = url === undefined ? undefined : { url, method };
  }

  answered(leg: DialledLeg): void {
    this.#notify('answer', reportOf(leg));
  }

  connected(leg: DialledLeg): void {
    this.#notify('connected', reportOf(leg));
  }

  digitsMatched(leg: DialledLeg, pattern: string, pressedBy: 'aleg' | 'bleg'): void {
    this.#notify('digits', reportOf(leg), [
      ['DialDigitsMatch', pattern],
      ['DialDigitsPressedBy', pressedBy],
    ]);
  }

  hungUp(leg: DialledLeg, end: CallEnd): void {
    this.#notify('hangup', reportOf(leg), [
      ...legDurations(leg.call),
      ...this.#cause(end),
      ['STIRVerification', leg.call.facts.stirVerification],
      ...failureReason(end.detail, leg.call.answerUs),
    ]);
  }

  /** Reports an attempt that failed before a leg existed, like an ended leg with an empty DialBLegUUID. */
  neverPlaced(attempt: UnplacedAttempt): void {
    this.#notify('hangup', { ...attempt, uuid: '' }, [
      ['DialBLegDuration', '0'],
      ['DialBLegBillDuration', '0'],
      ...this.#cause(attempt),
      ['STIRVerification', 'Not Applicable'],
      ...failureReason(attempt.detail, undefined),
    ]);
  }

  #cause({
    cause: key,
    source,
  }: {
    readonly cause: HangupCauseKey;
    readonly source: HangupSource;
  }): CallbackParameters {
    const { cause, code, name } = HANGUP_CAUSES[key];
    return [
      ['DialBLegHangupCause', cause],
      ['DialBLegHangupCauseCode', String(code)],
      ['DialBLegHangupCauseName', name],
      ['DialBLegHangupSource', sourceName(source, this.#context)],
    ];
  }

  #notify(happening: Happening, leg: Reported, own: CallbackParameters = []): void {
    // Most Dials have no callback: skip building the parameters.
    if (this.#target === undefined) return;
    const { call } = this.#context;
    const { facts } = call;
    const event = EVENT[happening];
    notify(this.#context, event, this.#target, [
      ['CallUUID', call.uuid],
      ['Event', event],
      ['From', partyParameter(facts.from)],
      ['To', partyParameter(facts.to)],
      ['Direction', facts.direction],
      ['ParentAuthID', facts.parentAuthId],
      ['DialAction', happening],
      ['DialALegUUID', call.uuid],
      ['DialBLegUUID', leg.uuid],
      ['DialBLegStatus', happening],
      ['DialBLegFrom', partyParameter(leg.from)],
      ['DialBLegTo', partyParameter(leg.to)],
      ['DialBLegPosition', String(leg.position)],
      ...own,
    ]);
  }
}

/** Name of the hangup source. `Platform` becomes the configured platform name, as in records. */
export const sourceName = (source: HangupSource, { needs }: Pick<VerbContext, 'needs'>): string =>
  source === 'Platform' ? needs.settings.platformName : source;
