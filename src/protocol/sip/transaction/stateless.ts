import { hashHex } from '../../../base/hash.ts';
import { createResponse, type HeaderInit, type SipRequest, type SipResponse } from '../message.ts';
import { serialize } from '../serialize.ts';
import { AnswerBudget } from '../transport/answer-budget.ts';
import type { Flow } from '../transport/flow.ts';
import type { TransactionOutput } from './types.ts';

/** An answer for which nothing is kept: no transaction, no retransmission. */
export interface StatelessAnswer {
  readonly status: number;
  /** Default: the phrase of the registry. */
  readonly reason?: string;
  /** To an unknown peer over UDP the last ones are left away as far as needed to keep the answer short. */
  readonly headers: HeaderInit;
  /** So many of the first headers must stay: without them there is no answer at all. Default: 0. */
  readonly needed?: number;
  /** For the log. */
  readonly why: string;
}

type Send = Extract<TransactionOutput, { kind: 'send' }>;

/**
 * Answers without a transaction (RFC 3261 §8.2.7), each once, straight back to where the request came from whatever its Via
 * says: an unknown peer cannot point them at somebody else with maddr, and to it they are no longer than the request allows over UDP.
 */
export class StatelessAnswers {
  readonly #salt: string;
  readonly #server: HeaderInit;
  readonly #isKnown: (flow: Flow) => boolean;
  readonly #budget = new AnswerBudget();

  /** `isKnown`: the source of a flow is not forged. */
  constructor(options: {
    readonly salt: string;
    readonly server: string | undefined;
    readonly isKnown: (flow: Flow) => boolean;
  }) {
    const { salt, server, isKnown } = options;
    this.#salt = salt;
    this.#server = server === undefined ? [] : [['Server', server]];
    this.#isKnown = isKnown;
  }

  /** Undefined: it would be too long. `received`: bytes of the request. */
  answer(
    request: SipRequest,
    flow: Flow,
    answer: Omit<StatelessAnswer, 'why'>,
    received: number,
  ): Send | undefined {
    const isFree = this.#isKnown(flow);
    const source = flow.remoteAddress;
    const most = isFree ? Number.POSITIVE_INFINITY : this.#budget.allowance(source, received);
    const all = [...answer.headers, ...this.#server];
    for (let kept = all.length; kept >= (answer.needed ?? 0); kept -= 1) {
      const message = this.response(request, { ...answer, headers: all.slice(0, kept) });
      const bytes = serialize(message);
      if (bytes.length > most) continue;
      if (!isFree) this.#budget.answered(source);
      return { kind: 'send', bytes, message, flow, transaction: undefined };
    }
    this.#budget.unanswered(source, received);
    return undefined;
  }

  /** A retransmission of the request gets the same To tag (§8.2.7). */
  response(request: SipRequest, answer: Omit<StatelessAnswer, 'why'>): SipResponse {
    const identity = `${this.#salt} ${request.header('via')} ${request.header('call-id')}`;
    return createResponse(request, answer.status, {
      ...(answer.reason === undefined ? {} : { reason: answer.reason }),
      toTag: hashHex('sha256', identity).slice(0, 16),
      headers: answer.headers,
    });
  }
}
