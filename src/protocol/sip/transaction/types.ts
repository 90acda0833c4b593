/** Outputs of the transaction layer to its user, the TU (RFC 3261 §17). */
import type { SipMessage, SipRequest, SipResponse } from '../message.ts';
import type { Flow } from '../transport/flow.ts';

/** Transaction ID, unique in one layer and never reused. */
export type TransactionId = number;

export type TransactionOutput =
  /** Bytes to send. `transaction` is undefined for stateless messages. Report send failures to `transportFailed`. */
  | {
      readonly kind: 'send';
      readonly bytes: Uint8Array;
      readonly message: SipMessage;
      readonly flow: Flow;
      readonly transaction: TransactionId | undefined;
    }
  /** New request other than ACK and CANCEL; answer it with `respond`. Its Via carries received and rport. */
  | {
      readonly kind: 'request';
      readonly request: SipRequest;
      readonly transaction: TransactionId;
      readonly flow: Flow;
    }
  /** A CANCEL with its own transaction, and the INVITE that it matches, or undefined if there is none (481). */
  | {
      readonly kind: 'cancel';
      readonly request: SipRequest;
      readonly transaction: TransactionId;
      readonly invite: TransactionId | undefined;
      readonly flow: Flow;
    }
  /** An ACK to a 2xx, to be matched by dialog. ACKs to other responses are absorbed. */
  | { readonly kind: 'ack'; readonly request: SipRequest; readonly flow: Flow }
  /** A response to our request. A 2xx to INVITE is reported for each retransmission and fork (RFC 6026). */
  | {
      readonly kind: 'response';
      readonly response: SipResponse;
      readonly transaction: TransactionId;
      readonly flow: Flow;
    }
  /** A response that matches no transaction. Only a late 2xx to INVITE is relevant. */
  | { readonly kind: 'strayResponse'; readonly response: SipResponse; readonly flow: Flow }
  /** Client: no final response in time. INVITE server: no ACK to a non-2xx final response. */
  | { readonly kind: 'timeout'; readonly transaction: TransactionId }
  | { readonly kind: 'transportError'; readonly transaction: TransactionId }
  /** End of a transaction. */
  | { readonly kind: 'terminated'; readonly transaction: TransactionId }
  /** Invalid bytes, for the log and the counters. Any answer has already been sent. */
  | { readonly kind: 'discarded'; readonly why: string; readonly flow: Flow };
