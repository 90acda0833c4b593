/** All client and server transactions of a user agent (RFC 3261 §17), from bytes to requests and responses. */
import type { HeaderInit, SipRequest, SipResponse } from '../message.ts';
import type { Flow } from '../transport/flow.ts';
import type { TimerValues } from './timer-values.ts';
import type { TransactionId, TransactionOutput } from './types.ts';

export interface TransactionLayerOptions {
  /** Unguessable token for To tags and branches. */
  readonly newToken: () => string;
  readonly timers?: TimerValues;
  /** Value of the Server header in answers that the layer gives by itself; none when absent. */
  readonly server?: string;
  /**
   * Answer to the address and port that the request came from even when the client did not ask for it with rport
   * (RFC 3581). Default true: behind a NAT nothing else arrives.
   */
  readonly replyToSource?: boolean;
}

/** The type surface, for those who build on it; see the class below. */
export interface Transactions {
  /** A datagram, or one message of a stream. */
  receive(bytes: Uint8Array, flow: Flow, nowMs: number): readonly TransactionOutput[];
  /**
   * Sends a request (not ACK) in a client transaction of its own. Its topmost Via must carry a fresh branch. The id is returned
   * before the outputs are acted upon.
   */
  request(
    request: SipRequest,
    flow: Flow,
    nowMs: number,
  ): { readonly transaction: TransactionId; readonly outputs: readonly TransactionOutput[] };
  /** Answers a request. Once the transaction is over it does nothing. Repeat a 2xx to INVITE to retransmit it. */
  respond(
    transaction: TransactionId,
    response: SipResponse,
    nowMs: number,
  ): readonly TransactionOutput[];
  /**
   * Cancels an INVITE of ours (§9.1): at once after a provisional response, else as soon as one arrives; nothing
   * when a final response came. Without a final response 64*T1 later the INVITE ends in `timeout`.
   */
  cancel(
    transaction: TransactionId,
    headers: HeaderInit,
    nowMs: number,
  ): readonly TransactionOutput[];
  /** The bytes of a `send` with that transaction could not be sent. */
  transportFailed(transaction: TransactionId, nowMs: number): readonly TransactionOutput[];
  /** A connection is gone: its client transactions without a final response fail. */
  connectionLost(connectionId: number, nowMs: number): readonly TransactionOutput[];
  expire(nowMs: number): readonly TransactionOutput[];
  deadlineMs(): number | undefined;
}
