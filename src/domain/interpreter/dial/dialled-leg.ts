import { secondsOf } from '../../../base/duration.ts';
import { answeredTimeMs, pulsedMs } from '../../../base/money.ts';
import type { DialDestination } from '../../../protocol/answer-xml/answer-xml.ts';
import type { Call, CallEnd } from '../../call/call.ts';
import type { CallbackParameters } from '../../callback/types.ts';
import type { UnplacedLeg } from '../needs.ts';

/** Destination of a `Dial` that has become a leg. */
export interface DialledLeg {
  readonly call: Call;
  readonly destination: DialDestination;
  /** Position of the destination in the document, from 1. */
  readonly position: number;
  /** Set once the leg has ended. */
  end: CallEnd | undefined;
  /** Resolves when the end of the leg has been reported to the callback, if there is one. */
  readonly settled: Promise<void>;
}

/** Destination of a `Dial` that never became a leg. */
export interface UnplacedAttempt extends UnplacedLeg {
  /** Position of the destination in the document, from 1. */
  readonly position: number;
}

/** Answered and billed seconds of an ended leg, as in its record; 0 if it was not answered or not created. */
export function legDurations(call: Call | undefined): CallbackParameters {
  const { answerUs, price } = call ?? {};
  const endUs = call?.endUs ?? call?.nowUs() ?? 0;
  const isAnswered = answerUs !== undefined && price !== undefined;
  const billedMs = isAnswered ? pulsedMs(Math.max(0, endUs - answerUs) / 1000, price.pulseMs) : 0;
  return [
    ['DialBLegDuration', String(secondsOf(answeredTimeMs(answerUs, endUs)))],
    ['DialBLegBillDuration', String(secondsOf(billedMs))],
  ];
}
