import { answeredSeconds, pulsedSeconds } from '../../../base/money.ts';
import type { DialDestination } from '../../../protocol/answer-xml/answer-xml.ts';
import type { Call, CallEnd } from '../../call/call.ts';
import type { UnmadeLeg } from '../needs.ts';

/** A destination of a `Dial` that has become a leg. */
export interface DialledLeg {
  readonly call: Call;
  readonly destination: DialDestination;
  /** Place of the destination in the document, from 1. */
  readonly position: number;
  /** Set once the leg has ended. */
  end: CallEnd | undefined;
  /** Resolves when the end has been told to the customer, if the customer wants to be told. */
  readonly settled: Promise<void>;
}

/** A destination of a `Dial` that never became a leg. */
export interface UnmadeAttempt extends UnmadeLeg {
  /** Place of the destination in the document, from 1. */
  readonly position: number;
}

/** Answered seconds of a leg that has ended, as its record has them: told and billed; 0 when it was never answered. */
export function secondsOf(call: Call): { readonly told: number; readonly billed: number } {
  if (call.answerUs === undefined) return { told: 0, billed: 0 };
  const endUs = call.endUs ?? call.nowUs();
  return {
    told: answeredSeconds(call.answerUs, endUs),
    billed: pulsedSeconds(Math.max(0, endUs - call.answerUs) / 1000, call.price.pulseSeconds),
  };
}
