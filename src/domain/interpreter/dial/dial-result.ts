/** What came of a `Dial`, in the words of its `action` (dialect §2.1, Dial). */
import { HANGUP_CAUSES, type HangupCauseKey, type HangupSource } from '../../call/types.ts';
import type { CallbackParameters } from '../../callback/types.ts';
import type { VerbContext } from '../needs.ts';
import { failureReason, sourceName } from './dial-events.ts';
import { type DialledLeg, legDurations, type UnmadeAttempt } from './dialled-leg.ts';

export type DialStatus = 'completed' | 'busy' | 'failed' | 'cancel' | 'timeout' | 'no-answer';

export interface DialResult {
  readonly status: DialStatus;
  /** At least one of the called parties was rung. */
  readonly rang: boolean;
  /** The leg that was connected, or the one whose end tells best why none was. */
  readonly leg: DialledLeg | undefined;
  /** Without any leg: the attempt that tells why there was none. */
  readonly unmade: UnmadeAttempt | undefined;
}

/** Of several failures the first in this list is told. */
const TELLING: readonly DialStatus[] = ['timeout', 'busy', 'no-answer', 'cancel', 'failed'];

/** The result of a `Dial` that connected nobody. What a called party did tells more than an attempt that was never made. */
export function resultOfFailure(
  legs: readonly DialledLeg[],
  unmade: readonly UnmadeAttempt[],
): DialResult {
  const rang = legs.some(wasRung);
  for (const status of TELLING) {
    const leg = legs.find(({ end }) => end !== undefined && statusOf(end.cause) === status);
    if (leg !== undefined) return { status, rang, leg, unmade: undefined };
  }
  const [first] = unmade.toSorted((a, b) => a.position - b.position);
  return { status: statusOf(first?.cause ?? 'canceled'), rang, leg: undefined, unmade: first };
}

/** An answer without a 180 before it counts as ringing too. */
export const wasRung = ({ call }: DialledLeg): boolean =>
  call.ringUs !== undefined || call.answerUs !== undefined;

function statusOf(cause: HangupCauseKey): DialStatus {
  switch (cause) {
    case 'ringTimeout':
      return 'timeout';
    case 'busy':
    case 'busyEverywhere':
      return 'busy';
    case 'noAnswer':
    case 'requestTimeout':
      return 'no-answer';
    case 'canceled':
      return 'cancel';
    default:
      return 'failed';
  }
}

/** `DialBLegUUID` is empty when no B leg came into being (spec, Dial). */
export function actionParameters(result: DialResult, context: VerbContext): CallbackParameters {
  const { leg } = result;
  const end = endOf(result);
  const cause = HANGUP_CAUSES[end.cause];
  const common: CallbackParameters = [
    ['DialStatus', result.status],
    ['DialRingStatus', String(result.rang)],
    ['DialHangupCause', cause.cause],
    ['DialALegUUID', context.call.uuid],
    ['DialBLegUUID', leg?.call.uuid ?? ''],
  ];
  return [
    ...common,
    ...legDurations(leg?.call),
    ['DialBLegHangupCauseCode', String(cause.code)],
    ['DialBLegHangupCauseName', cause.name],
    ['DialBLegHangupSource', end.source === undefined ? '' : sourceName(end.source, context)],
    ...failureReason(end.detail, leg?.call.answerUs),
  ];
}

/** What brought the end about: of the leg, or of the attempt that never became one. */
export function endOf({ leg, unmade }: DialResult): {
  readonly cause: HangupCauseKey;
  readonly source: HangupSource | undefined;
  readonly detail: string | undefined;
} {
  const none = { source: undefined, detail: undefined };
  // Nobody had been called when the caller went.
  if (leg === undefined) return unmade ?? { cause: 'canceled', ...none };
  // A leg that was let go to a script of its own has no end yet, and this Dial went well.
  return leg.end ?? { cause: 'normal', ...none };
}
