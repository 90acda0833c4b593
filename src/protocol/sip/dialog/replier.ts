import type { ResponseParts, SipRequest } from '../message.ts';
import type { TransactionId } from '../transaction/types.ts';

/** A dialog that answers the peer's requests. */
export interface Replier {
  reply(
    transaction: TransactionId,
    request: SipRequest,
    status: number,
    parts?: ResponseParts,
  ): void;
}
