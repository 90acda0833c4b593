/** Common part of both server transactions. */
import { compactText, messageOf } from '../compact-message.ts';
import { createResponse, type SipRequest, type SipResponse } from '../message.ts';
import { serialize } from '../serialize.ts';
import type { Flow } from '../transport/flow.ts';
import { isReliable } from '../types.ts';
import type { Timed } from './deadline-queue.ts';
import { type Shape, TableMachine } from './table-machine.ts';
import type { TimerValues } from './timer-values.ts';
import type { TransactionId, TransactionOutput } from './types.ts';

export interface ServerTransactionOptions {
  readonly id: TransactionId;
  readonly request: SipRequest;
  /** Flow for responses. */
  readonly flow: Flow;
  readonly timers: TimerValues;
}

export interface ServerTransaction extends Timed {
  readonly id: TransactionId;
  readonly flow: Flow;
  readonly state: string;
  /** To tag of our response, which identifies an RFC 2543 ACK. */
  readonly localTag: string | undefined;
  start(nowMs: number): readonly TransactionOutput[];
  /** Handles a retransmission of the request. */
  retransmitted(nowMs: number): readonly TransactionOutput[];
  /** Handles an ACK (INVITE only). */
  acknowledged(ack: SipRequest, nowMs: number): readonly TransactionOutput[];
  respond(response: SipResponse, nowMs: number): readonly TransactionOutput[];
  transportFailed(nowMs: number): readonly TransactionOutput[];
  expire(nowMs: number): readonly TransactionOutput[];
}

export abstract class ServerMachine<
  State extends string,
  Event extends string,
  Timer extends Event,
  Action extends string,
> extends TableMachine<State, Event | 'transportError', Timer, Action> {
  readonly flow: Flow;
  protected readonly timers: TimerValues;
  /** Request until the final response. Afterwards only the response is kept for retransmission. */
  #request: SipRequest | undefined;
  #next: SipResponse | undefined;
  #last: { readonly message: SipResponse; readonly bytes: Buffer } | undefined;
  /** Final response as kept text; see `compactText`. */
  #final: string | undefined;
  #localTag: string | undefined;

  constructor(
    options: ServerTransactionOptions,
    shape: Shape<State, Event | 'transportError', Action>,
  ) {
    super(options.id, shape);
    this.#request = options.request;
    this.flow = options.flow;
    this.timers = options.timers;
  }

  get localTag(): string | undefined {
    return this.#localTag ?? this.#last?.message.toOrUndefined?.tag;
  }

  protected get reliable(): boolean {
    return isReliable(this.flow.transport);
  }

  protected respondAs(
    event: Event,
    response: SipResponse,
    nowMs: number,
  ): readonly TransactionOutput[] {
    this.#next = response;
    this.fire(event, nowMs);
    this.#next = undefined;
    if (response.status >= 200) this.#finish();
    return this.takeOutputs();
  }

  #finish(): void {
    this.#request = undefined;
    if (this.#last === undefined) return;
    const { message, bytes } = this.#last;
    this.#localTag = message.toOrUndefined?.tag;
    this.#final = this.resendsFinal ? compactText(bytes) : undefined;
    this.#last = undefined;
  }

  /** True if the transaction retransmits the final response. */
  protected abstract get resendsFinal(): boolean;

  /** 100 response, or undefined if a final response has been sent. */
  protected trying(): SipResponse | undefined {
    return this.#request === undefined ? undefined : createResponse(this.#request, 100);
  }

  transportFailed(nowMs: number): readonly TransactionOutput[] {
    this.fire('transportError', nowMs);
    return this.takeOutputs();
  }

  /** Sends a response, by default the user's latest one, and keeps its bytes for retransmissions. */
  protected sendNext(message: SipResponse | undefined = this.#next): void {
    if (message === undefined) return;
    this.#last = { message, bytes: serialize(message) };
    this.resend();
  }

  /** Sends the last response again; no effect before the first one. */
  protected resend(): void {
    const last = this.#last ?? (this.#final === undefined ? undefined : messageOf(this.#final));
    if (last === undefined) return;
    this.emit({ kind: 'send', ...last, flow: this.flow, transaction: this.id });
  }
}
