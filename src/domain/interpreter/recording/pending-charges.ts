/** Callback parameters of recordings, and the data kept with a record until its file is ready. */
import type { Call } from '../../call/call.ts';
import { standardParameters } from '../../callback/callback.ts';
import type {
  CallbackParameters,
  CallbackTarget,
  NotificationDraft,
} from '../../callback/types.ts';
import type { Use, UseRate } from '../../ledger/types.ts';
import type { PendingCharges, Recording, RecordingEndReason } from '../../recording/types.ts';
import { parametersOf, signerOf } from '../call-callbacks.ts';
import type { CallRecordRequest } from './types.ts';

/** End of a recording, as reported by callbacks. */
export interface RecordingEnd {
  readonly reason: RecordingEndReason;
  readonly durationMs: number;
  /** Key that ended the recording. */
  readonly digits: string;
}

const EVENT = 'RecordStop';

/** Data stored with a new recording, for recovery after a restart. A restart ends the call, hence `completed`. */
export const pendingChargesOf = (
  call: Call,
  { callback }: CallRecordRequest,
  rate: UseRate | undefined,
): PendingCharges => ({
  currency: call.price.currency,
  rate,
  notice: recordStop(call, callback, standardParameters(call.facts, EVENT, 'completed')),
});

/** Returns the chargeable use of a recording. Undefined: the recording is free. */
export function useOf(
  { accountId, recordingId, callUuid }: Recording,
  currency: string | undefined,
  rate: UseRate | undefined,
): Use | undefined {
  if (currency === undefined || rate === undefined) return undefined;
  const reference = `recording:${recordingId}`;
  return {
    reservationId: reference,
    accountId,
    currency,
    rate,
    // Includes the UUID, so that the charges of a call can be found.
    description: `Recording ${recordingId}${callUuid === undefined ? '' : ` of call ${callUuid}`}`,
    reference,
    referenceType: 'recording',
  };
}

/** Returns the `RecordStop` notification without the recording's parameters. */
export const recordStop = (
  call: Call,
  target: CallbackTarget | undefined,
  parameters: CallbackParameters = parametersOf(call, EVENT),
): NotificationDraft | undefined =>
  target && { accountId: signerOf(call), subject: call.uuid, event: EVENT, target, parameters };

/** Adds the parameters that are known once the file is ready. */
export const completeNotice = (
  draft: NotificationDraft | undefined,
  ready: Recording,
  {
    link,
    startUs,
    end,
  }: {
    readonly link: string;
    readonly startUs: number;
    readonly end: RecordingEnd;
  },
): NotificationDraft | undefined =>
  draft && {
    ...draft,
    parameters: [...draft.parameters, ...recordingParameters(ready, link, startUs, end)],
  };

/**
 * Returns the callback parameters of a recording (dialect §2.1 Record). An undefined `end` means that it is still
 * running.
 */
export function recordingParameters(
  { recordingId }: Recording,
  link: string,
  startUs: number,
  end: RecordingEnd | undefined,
): CallbackParameters {
  const ms = end?.durationMs;
  const startMs = startUs / 1000;
  return [
    ['RecordingID', recordingId],
    ['RecordUrl', link],
    ['RecordFile', link],
    ['RecordingDuration', ms === undefined ? '-1' : String(Math.round(ms / 1000))],
    ['RecordingDurationMs', ms === undefined ? '-1' : String(Math.round(ms))],
    ['RecordingStartMs', String(Math.round(startMs))],
    ['RecordingEndMs', ms === undefined ? '-1' : String(Math.round(startMs + ms))],
    ...(end === undefined
      ? []
      : ([
          ['RecordingEndReason', end.reason],
          ['Digits', end.digits],
        ] as const)),
  ];
}
