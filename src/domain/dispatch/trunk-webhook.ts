/** Events to the `webhook_url` of a trunk (dialect §3.9). */
import { secondsOf } from '../../base/duration.ts';
import { answeredTimeMs, unitsFromMicros } from '../../base/money.ts';
import { isoMicros } from '../../base/time-format.ts';
import type { Call, CallEnd } from '../call/call.ts';
import { HANGUP_CAUSES } from '../call/types.ts';
import { type CallbackClient, partyParameter } from '../callback/callback.ts';
import type { JsonEvent } from '../callback/types.ts';
import type { Cdr } from '../cdr/types.ts';
import type { Trunk } from '../provisioning/types.ts';
import type { CallBilling } from './call-billing.ts';

interface WebhookNeeds {
  readonly callbacks: Pick<CallbackClient, 'post'>;
  readonly callBilling: Pick<CallBilling, 'recordOf'>;
}

/** Sends `CallInitiated` once the call is allowed or refused, and `Hangup` at the end of an allowed call. */
export class TrunkWebhook {
  readonly #trunk: Trunk;
  readonly #call: Call;
  readonly #needs: WebhookNeeds;
  #isAllowed = false;

  /** `call`: the inbound call. If it ends before `allowed`, it is reported as refused. */
  constructor(trunk: Trunk, call: Call, needs: WebhookNeeds) {
    this.#trunk = trunk;
    this.#call = call;
    this.#needs = needs;
    void call.ended.then((end) => this.#ended(end));
  }

  /** Reports that the trunk is being called. */
  allowed(): void {
    if (this.#isAllowed || this.#call.isEnded) return;
    this.#isAllowed = true;
    this.#notify('CallInitiated', { Allowed: true, Reason: '' });
  }

  async #ended(end: CallEnd): Promise<void> {
    if (!this.#isAllowed) {
      const Reason = end.detail ?? HANGUP_CAUSES[end.cause].name;
      this.#notify('CallInitiated', { Allowed: false, Reason });
      return;
    }
    const cdr = await this.#needs.callBilling.recordOf(this.#call);
    if (cdr !== undefined) this.#notify('Hangup', endOf(cdr));
  }

  #notify(name: string, facts: JsonEvent['body']): void {
    const { webhookUrl: url, webhookMethod: method, trunkId, name: trunkName } = this.#trunk;
    if (url === undefined) return;
    const { identity, facts: call, uuid } = this.#call;
    this.#needs.callbacks.post({
      accountId: identity.accountId,
      callUuid: uuid,
      name,
      target: { url, method },
      body: {
        CallUUID: uuid,
        TrunkID: trunkId,
        TrunkName: trunkName,
        ParentAuthID: call.parentAuthId,
        Direction: call.direction,
        From: partyParameter(call.from),
        To: partyParameter(call.to),
        StartTime: isoMicros(call.sessionStartUs),
        ...facts,
      },
    });
  }
}

/** End of the call as in its record: costs in units of its currency, times in whole seconds. */
function endOf(cdr: Cdr): JsonEvent['body'] {
  const { answerUs, endUs, startUs, quality } = cdr;
  return {
    AnswerTime: answerUs === undefined ? null : isoMicros(answerUs),
    EndTime: isoMicros(endUs),
    Duration: Math.round((endUs - startUs) / 1_000_000),
    Billsec: secondsOf(answeredTimeMs(answerUs, endUs)),
    BillDuration: secondsOf(cdr.billedMs),
    MOS: quality?.mos ?? null,
    Cost: unitsFromMicros(cdr.cost + cdr.streamingCost),
    Currency: cdr.currency,
    HangupCause: cdr.hangupCause,
    HangupCauseCode: cdr.hangupCauseCode,
    HangupCauseName: cdr.hangupCauseName,
    HangupSource: cdr.hangupSource,
  };
}
