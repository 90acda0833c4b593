import type { SipRequest } from '../message.ts';
import type { TransactionId } from '../transaction/types.ts';
import { INFO_TYPES } from './capabilities.ts';
import { readInfoDigit } from './info-digit.ts';
import type { Session } from './session.ts';

/** INFO in a dialog: keypad presses of the old kind; no Info Package of RFC 6086 is understood (469, §4.2.2). */
export function receiveInfo(
  session: Session,
  request: SipRequest,
  transaction: TransactionId,
): void {
  if (request.header('info-package') !== undefined) {
    session.reply(transaction, request, 469, { reason: 'Bad Info Package' });
  } else if (request.body.length === 0) {
    session.reply(transaction, request, 200);
  } else if (!INFO_TYPES.includes(request.contentType?.essence ?? '')) {
    const headers = [['Accept', INFO_TYPES.join(', ')]] as const;
    session.reply(transaction, request, 415, { headers });
  } else {
    const press = readInfoDigit(request);
    session.reply(transaction, request, press === undefined ? 400 : 200);
    if (press !== undefined) session.user.dtmf(press.digit, press.durationMs);
  }
}
