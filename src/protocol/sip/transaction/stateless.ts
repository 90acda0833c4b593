import { hashHex } from '../../../base/hash.ts';
import { createResponse, type HeaderInit, type SipRequest, type SipResponse } from '../message.ts';
import { serialize } from '../serialize.ts';
import { AnswerBudget } from '../transport/answer-budget.ts';
import type { Flow } from '../transport/flow.ts';
import type { TransactionOutput } from './types.ts';

/** How a request arrived. */
export interface Arrival {
  /** Time since the request arrived at this machine, in milliseconds. */
  readonly waitedMs: number;
  /** True if the source has authenticated before or is a carrier. */
  readonly isKnown: boolean;
  /** True if the request would wait too long in the queue. */
  readonly isTooMany?: boolean;
}

/** Arrival of a request that did not wait, from an unknown source. */
export const PROMPT: Arrival = { waitedMs: 0, isKnown: false };

/** A stateless response: no transaction, no retransmission. */
export interface StatelessAnswer {
  readonly status: number;
  /** Reason phrase. Default: the phrase of the registry. */
  readonly reason?: string;
  /** Header fields. To an unknown peer over UDP, the last ones are dropped as needed to keep the response short. */
  readonly headers: HeaderInit;
  /** Number of first header fields that are mandatory. If they do not fit, no response is sent. Default: 0. */
  readonly needed?: number;
  /** Reason for the log. */
  readonly why: string;
}

type Send = Extract<TransactionOutput, { kind: 'send' }>;

/**
 * Sends responses without a transaction (RFC 3261 §8.2.7), once, to the source of the request. The Via is ignored, so
 * an unknown peer cannot redirect them with maddr. To unknown peers over UDP, the request limits their length.
 */
export class StatelessAnswers {
  readonly #salt: string;
  readonly #server: HeaderInit;
  readonly #isKnown: (flow: Flow) => boolean;
  readonly #budget = new AnswerBudget();

  /** `isKnown` returns whether the source of a flow is verified. */
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

  /** Builds the response, or undefined if it would be too long. `received` is the request size in bytes. */
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
    for (let retained = all.length; retained >= (answer.needed ?? 0); retained -= 1) {
      const message = this.response(request, { ...answer, headers: all.slice(0, retained) });
      const bytes = serialize(message);
      if (bytes.length > most) continue;
      if (!isFree) this.#budget.answered(source);
      return { kind: 'send', bytes, message, flow, transaction: undefined };
    }
    this.#budget.unanswered(source, received);
    return undefined;
  }

  /** Builds the response; retransmissions of the request get the same To tag (§8.2.7). */
  response(request: SipRequest, answer: Omit<StatelessAnswer, 'why'>): SipResponse {
    const identity = `${this.#salt} ${request.header('via')} ${request.header('call-id')}`;
    return createResponse(request, answer.status, {
      ...(answer.reason === undefined ? {} : { reason: answer.reason }),
      toTag: hashHex('sha256', identity).slice(0, 16),
      headers: answer.headers,
    });
  }
}
