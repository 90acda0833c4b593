/** Common part of both client transactions. */
import { SipRequest, type SipResponse } from '../message.ts';
import { serialize } from '../serialize.ts';
import type { Flow } from '../transport/flow.ts';
import { isReliable } from '../types.ts';
import type { Timed } from './deadline-queue.ts';
import { type Shape, TableMachine } from './table-machine.ts';
import { type TimerValues, timeout } from './timer-values.ts';
import type { TransactionId, TransactionOutput } from './types.ts';

export interface ClientTransactionOptions {
  readonly id: TransactionId;
  readonly request: SipRequest;
  readonly flow: Flow;
  readonly timers: TimerValues;
}

export interface ClientTransaction extends Timed {
  readonly id: TransactionId;
  /** Request, or undefined when it is no longer needed. */
  readonly request: SipRequest | undefined;
  readonly flow: Flow;
  readonly state: string;
  start(nowMs: number): readonly TransactionOutput[];
  receive(response: SipResponse, nowMs: number): readonly TransactionOutput[];
  /** Reports that CANCEL has been sent (INVITE only). */
  cancelled(nowMs: number): readonly TransactionOutput[];
  transportFailed(nowMs: number): readonly TransactionOutput[];
  connectionLost(nowMs: number): readonly TransactionOutput[];
  expire(nowMs: number): readonly TransactionOutput[];
}

/** Actions on the request and the last response. */
export type ClientAction = 'send' | 'passUp';

type SharedEvent = '1xx' | 'transportError' | 'connectionLost';

/** Table with the timer that retransmits over unreliable transports (A, E) and the timer for the timeout (B, F). */
type ClientShape<
  State extends string,
  Event extends string,
  Timer extends Event,
  Action extends string,
> = Shape<State, Event | SharedEvent, Action | ClientAction> & {
  readonly resends: Timer;
  readonly givesUp: Timer;
};

/** Holds request, flow and the last response; each transaction adds its table and its timers. */
export abstract class ClientMachine<
  State extends string,
  Event extends string,
  Timer extends Event,
  Action extends string,
> extends TableMachine<State, Event | SharedEvent, Timer, Action | ClientAction> {
  readonly flow: Flow;
  protected readonly timers: TimerValues;
  readonly #shape: ClientShape<State, Event, Timer, Action>;
  #request: SipRequest | undefined;
  /** Serialized request until the final response. */
  #requestBytes: Uint8Array | undefined;
  /** Interval between the last two transmissions, in milliseconds. */
  #intervalMs: number;
  #response: SipResponse | undefined;

  constructor(options: ClientTransactionOptions, shape: ClientShape<State, Event, Timer, Action>) {
    super(options.id, shape);
    this.#shape = shape;
    this.#intervalMs = options.timers.t1;
    this.#request = options.request;
    this.flow = options.flow;
    this.timers = options.timers;
    this.#requestBytes = serialize(options.request);
  }

  /** Request. After the final response, only a failed INVITE is kept, without its body: ACKs copy its header fields. */
  get request(): SipRequest | undefined {
    return this.#request;
  }

  protected get reliable(): boolean {
    return isReliable(this.flow.transport);
  }

  start(nowMs: number): readonly TransactionOutput[] {
    this.sendRequest();
    this.arm(this.#shape.givesUp, nowMs + timeout(this.timers));
    if (!this.reliable) this.arm(this.#shape.resends, nowMs + this.#intervalMs);
    return this.takeOutputs();
  }

  /** Arms the next retransmission with twice the last interval, at most `limitMs`. */
  protected armResend(nowMs: number, limitMs = Number.POSITIVE_INFINITY): void {
    this.#intervalMs = Math.min(2 * this.#intervalMs, limitMs);
    this.arm(this.#shape.resends, nowMs + this.#intervalMs);
  }

  protected get response(): SipResponse | undefined {
    return this.#response;
  }

  protected receiveAs(
    event: Event | SharedEvent,
    response: SipResponse,
    nowMs: number,
  ): readonly TransactionOutput[] {
    this.#response = response;
    this.fire(event, nowMs);
    this.#response = undefined;
    if (response.status >= 200 && this.#requestBytes !== undefined) this.#finish(response);
    return this.takeOutputs();
  }

  transportFailed(nowMs: number): readonly TransactionOutput[] {
    this.fire('transportError', nowMs);
    return this.takeOutputs();
  }

  connectionLost(nowMs: number): readonly TransactionOutput[] {
    this.fire('connectionLost', nowMs);
    return this.takeOutputs();
  }

  /** Releases buffers, which would otherwise keep a shared memory slab allocated. */
  #finish({ status }: SipResponse): void {
    const request = this.#request;
    this.#requestBytes = undefined;
    this.#request =
      request?.method === 'INVITE' && status >= 300
        ? new SipRequest(request.method, request.requestUri, request.fields)
        : undefined;
  }

  protected sendRequest(): void {
    const { request: message, flow, id } = this;
    const bytes = this.#requestBytes;
    if (bytes === undefined || message === undefined) return;
    this.emit({ kind: 'send', bytes, message, flow, transaction: id });
  }

  protected abstract act(action: Action, nowMs: number): void;

  protected override perform(action: Action | ClientAction, nowMs: number): void {
    if (action === 'send') this.sendRequest();
    else if (action === 'passUp') this.#passUp();
    else this.act(action, nowMs);
  }

  #passUp(): void {
    const { flow, id } = this;
    const response = this.#response;
    if (response !== undefined) this.emit({ kind: 'response', response, transaction: id, flow });
  }
}
