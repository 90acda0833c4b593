/** Classifies calls that the service interrupted: by its stop, its crash, or its loss of the cluster. */
import type { Cdr } from './types.ts';

/** Failure reasons of calls that were cut off by the service. */
export const INTERRUPTED = {
  /** The drain period of a stop ended. */
  stop: 'the service stops',
  crash: 'the service stopped while the call was running',
  beforeDial: 'the service stopped before the call was dialled',
  takenOver: 'another node has taken over and billed the call',
} as const;

const REASONS: ReadonlySet<string> = new Set(Object.values(INTERRUPTED));
/** Hangup sources whose failure reason comes from the peer. */
const FAR_END: ReadonlySet<string> = new Set(['Caller', 'Callee', 'Carrier']);

/** Returns whether the service cut off the call before it was answered. */
export const isInterrupted = ({
  answerUs,
  failureReason,
  hangupSource,
}: Pick<Cdr, 'answerUs' | 'failureReason' | 'hangupSource'>): boolean =>
  answerUs === undefined && REASONS.has(failureReason ?? '') && !FAR_END.has(hangupSource);
