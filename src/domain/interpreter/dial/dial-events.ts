/** What a `Dial` tells its `callbackUrl` (dialect §2.1, Dial). */
import type { DialInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import type { CallEnd } from '../../call/call.ts';
import { HANGUP_CAUSES, type HangupSource } from '../../call/types.ts';
import { partyParameter } from '../../callback/callback.ts';
import type { CallbackParameters, CallbackTarget } from '../../callback/types.ts';
import { notify } from '../call-callbacks.ts';
import type { VerbContext } from '../needs.ts';
import { answeredSeconds, type DialledLeg } from './dialled-leg.ts';

type Happening = 'answer' | 'connected' | 'digits' | 'hangup';

const EVENT: Readonly<Record<Happening, string>> = {
  answer: 'DialAnswer',
  connected: 'DialConnected',
  digits: 'DialDigitsMatch',
  hangup: 'DialHangup',
};

export class DialEvents {
  readonly #context: VerbContext;
  readonly #target: CallbackTarget | undefined;

  constructor(instruction: DialInstruction, context: VerbContext) {
    const { callbackUrl: url, callbackMethod: method } = instruction;
    this.#context = context;
    this.#target = url === undefined ? undefined : { url, method };
  }

  answered(leg: DialledLeg): void {
    this.#tell('answer', leg);
  }

  connected(leg: DialledLeg): void {
    this.#tell('connected', leg);
  }

  digitsMatched(leg: DialledLeg, pattern: string, pressedBy: 'aleg' | 'bleg'): void {
    this.#tell('digits', leg, [
      ['DialDigitsMatch', pattern],
      ['DialDigitsPressedBy', pressedBy],
    ]);
  }

  hungUp(leg: DialledLeg, end: CallEnd): void {
    const seconds = answeredSeconds(leg.call);
    const cause = HANGUP_CAUSES[end.cause];
    this.#tell('hangup', leg, [
      ['DialBLegDuration', String(seconds.told)],
      ['DialBLegBillDuration', String(seconds.billed)],
      ['DialBLegHangupCause', cause.cause],
      ['DialBLegHangupCauseCode', String(cause.code)],
      ['DialBLegHangupCauseName', cause.name],
      ['DialBLegHangupSource', sourceName(end.source, this.#context)],
      ['STIRVerification', leg.call.facts.stirVerification],
    ]);
  }

  #tell(happening: Happening, leg: DialledLeg, own: CallbackParameters = []): void {
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
      ['DialBLegUUID', leg.call.uuid],
      ['DialBLegStatus', happening],
      ['DialBLegFrom', partyParameter(leg.call.facts.from)],
      ['DialBLegTo', partyParameter(leg.call.facts.to)],
      ['DialBLegPosition', String(leg.position)],
      ...own,
    ]);
  }
}

/** The platform goes by its configured name, as in the records. */
export const sourceName = (source: HangupSource, { needs }: Pick<VerbContext, 'needs'>): string =>
  source === 'Platform' ? needs.settings.platformName : source;
