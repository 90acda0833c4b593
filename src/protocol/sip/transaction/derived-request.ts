/** Requests derived from the request of a client transaction: ACK to a failure, CANCEL. */
import { formatCSeq } from '../header/cseq.ts';
import { splitList } from '../header/text.ts';
import { createRequest, type HeaderInit, type SipRequest, type SipResponse } from '../message.ts';

/** ACK to a 3xx–6xx (RFC 3261 §17.1.1.3): same Request-URI, topmost Via and Route, the To of the response. */
export const createAck = (invite: SipRequest, response: SipResponse): SipRequest =>
  derive(invite, 'ACK', response.header('to') ?? '', []);

/** CANCEL (§9.1) with the same fields as the cancelled request, so that each hop matches it by branch. */
export const createCancel = (invite: SipRequest, headers: HeaderInit): SipRequest =>
  derive(invite, 'CANCEL', invite.header('to') ?? '', headers);

function derive(invite: SipRequest, method: string, to: string, extra: HeaderInit): SipRequest {
  return createRequest({
    method,
    requestUri: invite.requestUri,
    headers: [
      ['Via', splitList(invite.header('via') ?? '')[0] ?? ''],
      ['Max-Forwards', '70'],
      ['From', invite.header('from') ?? ''],
      ['To', to],
      ['Call-ID', invite.callId],
      ['CSeq', formatCSeq(invite.cseq.sequence, method)],
      ...invite.headers('route').map((route): [string, string] => ['Route', route]),
      ...extra,
    ],
  });
}
