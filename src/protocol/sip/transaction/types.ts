/** What the transaction layer tells its user (RFC 3261 §17: the TU). */
import type { SipMessage, SipRequest, SipResponse } from '../message.ts';
import type { Flow } from '../transport/flow.ts';

/** Of one layer; never reused. */
export type TransactionId = number;

export type TransactionOutput =
  /** Bytes for the network. `transaction` undefined: stateless. A failure to send goes to `transportFailed`. */
  | {
      readonly kind: 'send';
      readonly bytes: Uint8Array;
      readonly message: SipMessage;
      readonly flow: Flow;
      readonly transaction: TransactionId | undefined;
    }
  /** A new request other than ACK and CANCEL; `respond` answers it. Its Via carries received and rport. */
  | {
      readonly kind: 'request';
      readonly request: SipRequest;
      readonly transaction: TransactionId;
      readonly flow: Flow;
    }
  /** A CANCEL (its own transaction) and the INVITE it means, undefined when there is none (481). */
  | {
      readonly kind: 'cancel';
      readonly request: SipRequest;
      readonly transaction: TransactionId;
      readonly invite: TransactionId | undefined;
      readonly flow: Flow;
    }
  /** An ACK to a 2xx, to be matched by dialog. ACKs to other responses are absorbed. */
  | { readonly kind: 'ack'; readonly request: SipRequest; readonly flow: Flow }
  /** A response to a request of ours; a 2xx to INVITE again for each retransmission and fork (RFC 6026). */
  | {
      readonly kind: 'response';
      readonly response: SipResponse;
      readonly transaction: TransactionId;
      readonly flow: Flow;
    }
  /** A response that belongs to no transaction. Only a late 2xx to INVITE deserves attention. */
  | { readonly kind: 'strayResponse'; readonly response: SipResponse; readonly flow: Flow }
  /** Client: no final response in time. INVITE server: no ACK to a non-2xx final response. */
  | { readonly kind: 'timeout'; readonly transaction: TransactionId }
  | { readonly kind: 'transportError'; readonly transaction: TransactionId }
  /** A transaction has ended. */
  | { readonly kind: 'terminated'; readonly transaction: TransactionId }
  /** Bytes that are no valid message, for the log and the counters; an answer, where one is due, was sent already. */
  | { readonly kind: 'discarded'; readonly why: string; readonly flow: Flow };
