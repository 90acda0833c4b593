import type { NameAddr } from '../header/name-addr.ts';
import { retryAfterMs } from '../header/retry-after.ts';
import type { HeaderInit, SipRequest, SipResponse } from '../message.ts';
import { formatUri } from '../uri.ts';
import type { HangupCommand, LegEndFacts } from '../user-agent-types.ts';
import type { ReferRequest } from './referring.ts';

/** One call leg, inbound or outbound, and the commands that it accepts. */
export interface Leg {
  hangup(command: HangupCommand): void;
  sendDigit(digit: string, durationMs: number): void;
  answerOffer(sdp: string | undefined): void;
  /** Answers a REFER of the peer; later calls report the progress of the referred call. */
  answerRefer(id: number, status: number): void;
  notifyRefer(id: number, status: number): void;
  /** Sends a REFER to the peer. `referStep` reports its progress until `forget` is called. */
  refer(refer: ReferRequest): void;
  forgetRefer(): void;
}

export const reasonHeaders = (reason: string | undefined): HeaderInit =>
  reason === undefined ? [] : [['Reason', reason]];

/** Maximum number of alternatives tried from a redirection. */
const MAX_CONTACTS = 4;

/** End of a leg caused by a final failure response. The reason is the peer's text (RFC 3326 if given). */
export const refusedBy = (response: SipResponse): LegEndFacts => ({
  by: 'remote',
  how: 'refused',
  status: response.status,
  reason: response.header('reason') ?? response.reason,
  ...resting(retryAfterMs(response)),
  ...alternatives(response),
});

const resting = (ms: number | undefined): { readonly retryAfterMs?: number } =>
  ms === undefined ? {} : { retryAfterMs: ms };

/** Contacts of a 3xx, ordered by q (RFC 3261 §8.1.3.4). */
function alternatives({ status, contacts }: SipResponse): {
  readonly contacts?: readonly string[];
} {
  if (status < 300 || status >= 400 || contacts === undefined || contacts === '*') return {};
  const qOf = ({ params }: NameAddr): number => Number(params.get('q') ?? 1) || 0;
  const best = [...contacts].sort((a, b) => qOf(b) - qOf(a)).slice(0, MAX_CONTACTS);
  return { contacts: best.map(({ uri }) => formatUri(uri)) };
}

export const cancelledBy = (cancel: SipRequest): LegEndFacts => ({
  by: 'remote',
  how: 'cancel',
  status: 487,
  reason: cancel.header('reason'),
});

/** Failures that end the whole dialog: RFC 3261 §12.2.1.2 and RFC 5057 §5.1. */
const ENDS_DIALOG: ReadonlySet<number> = new Set([
  ...[404, 408, 410, 416, 480, 481, 482, 484, 485, 502, 604],
]);

export const endsDialog = (status: number): boolean => ENDS_DIALOG.has(status);
