import { noOperation } from '../../../base/no-operation.ts';
import type { SipResponse } from '../message.ts';
import { timeout } from '../transaction/timer-values.ts';
import type { TransactionId } from '../transaction/types.ts';
import type { UserAgentCore } from './core.ts';
import type { Cancel } from './timers.ts';

/** A pending 2xx to INVITE: repeated until its ACK arrives, abandoned after 64*T1 (RFC 3261 §13.3.1.4). */
export class Acceptance {
  readonly #core: UserAgentCore;
  readonly #transaction: TransactionId;
  readonly #response: SipResponse;
  readonly #givenUp: () => void;
  /** CSeq of the INVITE and of its ACK. */
  readonly sequence: number;
  /** True if the 2xx carries our offer, so the ACK must contain an answer. */
  readonly expectsAnswer: boolean;
  #cancelTimer: Cancel = noOperation;

  constructor(
    core: UserAgentCore,
    accepted: {
      readonly transaction: TransactionId;
      readonly response: SipResponse;
      readonly expectsAnswer: boolean;
    },
    givenUp: () => void,
  ) {
    this.#core = core;
    this.#transaction = accepted.transaction;
    this.#response = accepted.response;
    this.expectsAnswer = accepted.expectsAnswer;
    this.sequence = accepted.response.cseq.sequence;
    this.#givenUp = givenUp;
    const { t1 } = core.timers;
    this.#send(t1, core.nowMs + timeout(core.timers));
  }

  acknowledged(): void {
    this.#cancelTimer();
  }

  #send(intervalMs: number, endMs: number): void {
    const core = this.#core;
    core.send(this.#transaction, this.#response);
    const nextMs = core.nowMs + intervalMs;
    this.#cancelTimer =
      nextMs < endMs
        ? core.dialogTimers.at(nextMs, () =>
            this.#send(Math.min(2 * intervalMs, core.timers.t2), endMs),
          )
        : core.dialogTimers.at(endMs, this.#givenUp);
  }
}
