/** What came of a `Dial`, in the words of its `action` (dialect §2.1, Dial). */
import type { CallEnd } from '../../call/call.ts';
import { HANGUP_CAUSES } from '../../call/types.ts';
import type { CallbackParameters } from '../../callback/types.ts';
import type { VerbContext } from '../needs.ts';
import { sourceName } from './dial-events.ts';
import { answeredSeconds, type DialledLeg } from './dialled-leg.ts';

export type DialStatus = 'completed' | 'busy' | 'failed' | 'cancel' | 'timeout' | 'no-answer';

export interface DialResult {
  readonly status: DialStatus;
  /** At least one of the called parties was rung. */
  readonly rang: boolean;
  /** The leg that was connected, or the one whose end tells best why none was. */
  readonly leg: DialledLeg | undefined;
}

/** Of several failures the first in this list is the one worth telling. */
const TELLING: readonly DialStatus[] = ['timeout', 'busy', 'no-answer', 'cancel', 'failed'];

/** The result of a `Dial` that connected nobody. */
export function resultOfFailure(legs: readonly DialledLeg[]): DialResult {
  const rang = legs.some(wasRung);
  for (const status of TELLING) {
    const leg = legs.find(({ end }) => end !== undefined && statusOf(end) === status);
    if (leg !== undefined) return { status, rang, leg };
  }
  return { status: 'failed', rang, leg: undefined };
}

/** An answer without a 180 before it counts: somebody was reached. */
export const wasRung = ({ call }: DialledLeg): boolean =>
  call.ringUs !== undefined || call.answerUs !== undefined;

function statusOf({ cause }: CallEnd): DialStatus {
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
  const end = leg?.end;
  // A leg that was let go to a script of its own has no end yet, and this Dial went well.
  const cause = HANGUP_CAUSES[end?.cause ?? (leg === undefined ? 'rejected' : 'normal')];
  const common: CallbackParameters = [
    ['DialStatus', result.status],
    ['DialRingStatus', String(result.rang)],
    ['DialHangupCause', cause.cause],
    ['DialALegUUID', context.call.uuid],
    ['DialBLegUUID', leg?.call.uuid ?? ''],
  ];
  if (leg === undefined) return common;
  const seconds = answeredSeconds(leg.call);
  return [
    ...common,
    ['DialBLegDuration', String(seconds.told)],
    ['DialBLegBillDuration', String(seconds.billed)],
    ['DialBLegHangupCauseCode', String(cause.code)],
    ['DialBLegHangupCauseName', cause.name],
    ['DialBLegHangupSource', end === undefined ? '' : sourceName(end.source, context)],
  ];
}
