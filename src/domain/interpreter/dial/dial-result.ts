/** Result of a `Dial` as reported to its `action` (dialect §2.1, Dial). */
import { HANGUP_CAUSES, type HangupCauseKey, type HangupSource } from '../../call/types.ts';
import type { CallbackParameters } from '../../callback/types.ts';
import type { VerbContext } from '../needs.ts';
import { failureReason, sourceName } from './dial-events.ts';
import { type DialledLeg, legDurations, type UnplacedAttempt } from './dialled-leg.ts';

type DialStatus = 'completed' | 'busy' | 'failed' | 'cancel' | 'timeout' | 'no-answer';

export interface DialResult {
  readonly status: DialStatus;
  /** True if at least one called party was ringing. */
  readonly rang: boolean;
  /** Connected leg, or the leg whose end best explains the failure. */
  readonly leg: DialledLeg | undefined;
  /** If there is no leg: the attempt that explains the failure. */
  readonly unplaced: UnplacedAttempt | undefined;
}

/** Failure statuses by priority: the first one found is reported. */
const TELLING: readonly DialStatus[] = ['timeout', 'busy', 'no-answer', 'cancel', 'failed'];

/** Returns the result of a `Dial` without a connection. Ended legs take precedence over attempts that never became a leg. */
export function resultOfFailure(
  legs: readonly DialledLeg[],
  unplaced: readonly UnplacedAttempt[],
): DialResult {
  const rang = legs.some(wasRung);
  for (const status of TELLING) {
    const leg = legs.find(({ end }) => end !== undefined && statusOf(end.cause) === status);
    if (leg !== undefined) return { status, rang, leg, unplaced: undefined };
  }
  const [first] = unplaced.toSorted((a, b) => a.position - b.position);
  return { status: statusOf(first?.cause ?? 'canceled'), rang, leg: undefined, unplaced: first };
}

/** True if the leg rang. An answer without a previous 180 counts as ringing. */
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

/** Returns the `action` parameters. `DialBLegUUID` is empty if no B leg was created (spec, Dial). */
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

/** Returns the end cause of the result's leg or of its failed attempt. */
export function endOf({ leg, unplaced }: DialResult): {
  readonly cause: HangupCauseKey;
  readonly source: HangupSource | undefined;
  readonly detail: string | undefined;
} {
  const none = { source: undefined, detail: undefined };
  // The caller hung up before any destination was called.
  if (leg === undefined) return unplaced ?? { cause: 'canceled', ...none };
  // A leg released to another script has not ended; the Dial counts as successful.
  return leg.end ?? { cause: 'normal', ...none };
}
