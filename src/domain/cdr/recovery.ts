import { secondsOf } from '../../base/duration.ts';
import type { Logger } from '../../base/logger.ts';
import { answeredTimeMs } from '../../base/money.ts';
import { localDateTime } from '../../base/time-format.ts';
import { HANGUP_CAUSES } from '../call/types.ts';
import type { StoredNotification } from '../callback/types.ts';
import { chargesOf, closeCall } from './billing.ts';
import { INTERRUPTED } from './interruption.ts';
import type { CallStore, OpenCall } from './needs.ts';
import type { Cdr } from './types.ts';

/**
 * Closes orphaned calls after a crash. Each is billed up to its last heartbeat and settled once, with its hangup
 * notification. Queued calls end as they do when the service stops (1020). Runs before new calls are accepted, and
 * after another node was declared dead. Returns the written records.
 */
export async function recoverOpenCalls(store: CallStore, log: Logger): Promise<readonly Cdr[]> {
  const recovered: Cdr[] = [];
  for (const call of await store.listOpen('orphaned')) {
    const cdr = closedByCrash(call);
    const isFirst = await store.settle({
      cdr,
      entries: chargesOf(cdr),
      notification: call.hangupNotification && finalNotification(call.hangupNotification, cdr),
      isInterrupted: true,
    });
    if (!isFirst) continue; // another node settled it first
    log.warn(
      { callUuid: cdr.callUuid, accountId: cdr.accountId, billedMs: cdr.billedMs },
      cdr.failureReason ?? '',
    );
    recovered.push(cdr);
  }
  return recovered;
}

function closedByCrash(call: OpenCall): Cdr {
  const cause = HANGUP_CAUSES[call.waiting ? 'simultaneousDialLimit' : 'internalError'];
  const endUs = Math.max(call.heartbeatUs, call.cdr.answerUs ?? 0, call.cdr.startUs);
  const closed = closeCall(
    call,
    {
      endUs,
      hangupCause: cause.cause,
      hangupCauseCode: cause.code,
      hangupCauseName: cause.name,
      hangupSource: 'Error',
      hangupDisposition: call.cdr.answerUs === undefined ? 'send_refuse' : 'send_bye',
    },
    'Connection error',
  );
  const failureReason = call.waiting ? INTERRUPTED.beforeDial : INTERRUPTED.crash;
  return { ...closed, failureReason };
}

/** Updates the notification parameters that depend on the end of the call. Keeps the stored set of parameters. */
function finalNotification(notification: StoredNotification, cdr: Cdr): StoredNotification {
  const final: Readonly<Record<string, string>> = {
    EndTime: localDateTime(cdr.endUs / 1000),
    Duration: String(secondsOf(answeredTimeMs(cdr.answerUs, cdr.endUs))),
    BillDuration: String(secondsOf(cdr.billedMs)),
    HangupCause: cdr.hangupCause,
    HangupCauseCode: String(cdr.hangupCauseCode),
    HangupCauseName: cdr.hangupCauseName,
    HangupSource: cdr.hangupSource,
  };
  return {
    ...notification,
    parameters: notification.parameters.map(([name, value]) => [name, final[name] ?? value]),
  };
}
