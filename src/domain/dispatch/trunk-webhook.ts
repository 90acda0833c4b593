/** What the `webhook_url` of a trunk is told of its calls (dialect §3.9). */
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
  readonly keeper: Pick<CallBilling, 'recordOf'>;
}

/** `CallInitiated` once it is known whether the call may go on, and `Hangup` at the end of one that might. */
export class TrunkWebhook {
  readonly #trunk: Trunk;
  readonly #call: Call;
  readonly #needs: WebhookNeeds;
  #isAllowed = false;

  /** `call`: as it came in. One that ends before `allowed` has been refused. */
  constructor(trunk: Trunk, call: Call, needs: WebhookNeeds) {
    this.#trunk = trunk;
    this.#call = call;
    this.#needs = needs;
    void call.ended.then((end) => this.#ended(end));
  }

  /** The trunk is being called. */
  allowed(): void {
    if (this.#isAllowed || this.#call.isEnded) return;
    this.#isAllowed = true;
    this.#tell('CallInitiated', { Allowed: true, Reason: '' });
  }

  async #ended(end: CallEnd): Promise<void> {
    if (!this.#isAllowed) {
      const Reason = end.detail ?? HANGUP_CAUSES[end.cause].name;
      this.#tell('CallInitiated', { Allowed: false, Reason });
      return;
    }
    const cdr = await this.#needs.keeper.recordOf(this.#call);
    if (cdr !== undefined) this.#tell('Hangup', endOf(cdr));
  }

  #tell(name: string, facts: JsonEvent['body']): void {
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

/** As in the record of the call: costs in units of its currency, times in whole seconds. */
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
