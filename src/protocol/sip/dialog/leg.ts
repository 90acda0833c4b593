import type { HeaderInit, SipRequest, SipResponse } from '../message.ts';
import type { HangupCommand, LegEndFacts } from '../user-agent-types.ts';

/** One call leg, whoever began it: what commands may be given to it. */
export interface Leg {
  hangup(command: HangupCommand): void;
  sendDigit(digit: string, durationMs: number): void;
  answerOffer(sdp: string | undefined): void;
}

export const reasonHeaders = (reason: string | undefined): HeaderInit =>
  reason === undefined ? [] : [['Reason', reason]];

/** A final failure response as the end of a leg: why, in the peer's words (RFC 3326 where it is given). */
export const refusedBy = (response: SipResponse): LegEndFacts => ({
  by: 'remote',
  how: 'refused',
  status: response.status,
  reason: response.header('reason') ?? response.reason,
});

export const cancelledBy = (cancel: SipRequest): LegEndFacts => ({
  by: 'remote',
  how: 'cancel',
  status: 487,
  reason: cancel.header('reason'),
});
