import type { CallDirection, HangupDisposition } from '../cdr/types.ts';
import { CONTACT_UNREACHABLE, type HangupCauseKey, type HangupSource } from './hangup-cause.ts';
import type { LegEnd } from './needs.ts';

export interface CallEnd {
  readonly cause: HangupCauseKey;
  readonly source: HangupSource;
  readonly disposition: HangupDisposition;
  /** Explanation beyond the cause's name, or undefined. */
  readonly detail: string | undefined;
}

/** Hangup cause per SIP final response (dialect §3.12). Other statuses are mapped by class. */
const BY_STATUS: Readonly<Record<number, HangupCauseKey>> = {
  401: 'authFailed',
  403: 'forbidden',
  404: 'unallocated',
  407: 'authFailed',
  408: 'requestTimeout',
  410: 'unallocated',
  480: 'noAnswer',
  482: 'loopDetected',
  483: 'loopDetected',
  484: 'invalidDestination',
  486: 'busy',
  487: 'canceled',
  488: 'mediaAnchoring',
  500: 'carrierError',
  502: 'destinationOutOfService',
  503: 'carrierCongestion',
  600: 'busyEverywhere',
  603: 'declined',
  604: 'userDoesNotExist',
  606: 'mediaAnchoring',
  607: 'spamBlock',
  608: 'spamBlock',
};

/** Ambiguous statuses: gateways use them for many causes of the telephone network (RFC 3398 §8.2.6.1). */
const VAGUE: ReadonlySet<number> = new Set([400, 480, 500, 502, 503, 504]);

/** Hangup cause per ITU-T Q.850 cause in a Reason header field (RFC 3326). Refines ambiguous statuses. */
const BY_Q850: Readonly<Record<number, HangupCauseKey>> = {
  1: 'unallocated',
  17: 'busy',
  18: 'noAnswer',
  19: 'noAnswer',
  21: 'rejected',
  22: 'unallocated',
  27: 'destinationOutOfService',
  28: 'invalidDestination',
  34: 'carrierCongestion',
  42: 'carrierCongestion',
};
/** Causes that the called party produces, not the network. */
const PARTYS: ReadonlySet<HangupCauseKey> = new Set([
  ...(['unallocated', 'busy', 'noAnswer', 'rejected', 'invalidDestination'] as const),
]);

function causeInReason({ status, reason }: LegEnd): HangupCauseKey | undefined {
  if (status === undefined || reason === undefined || !VAGUE.has(status)) return undefined;
  const cause = /\bQ\.850\s*;(?:[^,]*;)?\s*cause\s*=\s*(\d{1,3})/i.exec(reason)?.[1];
  return cause === undefined ? undefined : BY_Q850[Number(cause)];
}

function causeOfStatus(status: number | undefined): HangupCauseKey {
  if (status === undefined) return 'unknown';
  const known = BY_STATUS[status];
  if (known !== undefined) return known;
  return status >= 500 && status < 600 ? 'carrierError' : 'rejected';
}

const unreached = (
  detail: string,
  { answered, toEndpoint }: { readonly answered: boolean; readonly toEndpoint: boolean },
): string => (toEndpoint && !answered ? `${CONTACT_UNREACHABLE}: ${detail}` : detail);

/** Leg that ended. */
interface EndedLeg {
  readonly direction: CallDirection;
  readonly answered: boolean;
  readonly toEndpoint: boolean;
}

/** Converts the end of a leg by the peer or the network to cause, source and disposition for callbacks and CDRs. */
export function endOfLeg(end: LegEnd, leg: EndedLeg): CallEnd {
  switch (end.how) {
    case 'bye':
    case 'cancel':
    case 'refused':
      return endByPeer(end, end.how, leg.direction === 'inbound' ? 'Caller' : 'Callee');
    case 'timeout':
      return {
        cause: leg.answered ? 'networkError' : 'requestTimeout',
        source: 'Error',
        disposition: ourDisposition(leg),
        detail: unreached(detailOf(end) ?? 'no answer to our request', leg),
      };
    case 'transport':
      return {
        cause: 'networkError',
        source: 'Error',
        disposition: ourDisposition(leg),
        detail: unreached(detailOf(end) ?? 'the connection was lost', leg),
      };
    case 'unreachable':
      return unreachable(end, leg);
    case 'notAllowed':
      return {
        cause: 'forbidden',
        source: 'Platform',
        disposition: ourDisposition(leg),
        detail: `the destination is not allowed: ${end.reason ?? 'refused'}`,
      };
    case 'sessionExpired':
      return {
        cause: 'networkError',
        source: 'Error',
        disposition: 'send_bye',
        detail: 'the session was not refreshed in time (RFC 4028)',
      };
  }
}

/** The peer's BYE, CANCEL or final response. A 5xx counts as a fault of the carrier, unless its Reason names the party. */
function endByPeer(end: LegEnd, how: 'bye' | 'cancel' | 'refused', peer: HangupSource): CallEnd {
  if (how === 'bye')
    return { cause: 'normal', source: peer, disposition: 'recv_bye', detail: end.reason };
  if (how === 'cancel')
    return { cause: 'canceled', source: peer, disposition: 'recv_cancel', detail: end.reason };
  const reported = causeInReason(end);
  const isFault = end.status !== undefined && end.status >= 500 && end.status < 600;
  const carrierFault = isFault && (reported === undefined || !PARTYS.has(reported));
  return {
    cause: reported ?? causeOfStatus(end.status),
    source: carrierFault ? 'Carrier' : peer,
    disposition: 'recv_refuse',
    detail: detailOf(end),
  };
}

function unreachable(end: LegEnd, { toEndpoint }: EndedLeg): CallEnd {
  const reason = toEndpoint
    ? 'the endpoint has no registered contact'
    : 'the destination could not be resolved';
  return {
    cause: toEndpoint ? 'endpointNotRegistered' : 'routingError',
    source: 'Error',
    disposition: 'send_refuse',
    detail: detailOf(end) ?? reason,
  };
}

/** Disposition of an end by this service. */
function ourDisposition({ direction, answered }: EndedLeg): HangupDisposition {
  if (answered) return 'send_bye';
  return direction === 'inbound' ? 'send_refuse' : 'send_cancel';
}

const detailOf = ({ status, reason }: LegEnd): string | undefined =>
  status === undefined ? reason : `SIP ${status}${reason === undefined ? '' : ` ${reason}`}`;

/**
 * Returns true if no party can answer the INVITE any more. After a 6xx from one phone, the INVITEs to the user's other
 * phones are cancelled; one of them may answer before its CANCEL arrives.
 */
export const isUndelivered = (
  { how, status = 0 }: LegEnd,
  { toEndpoint }: { readonly toEndpoint: boolean },
): boolean =>
  how === 'unreachable' ||
  how === 'notAllowed' ||
  (how === 'refused' && (status < 600 || !toEndpoint));

/** Returns the disposition of a leg that this node ends. `dialled`: an INVITE has been sent or received. */
export function ownDisposition(leg: {
  direction: CallDirection;
  answered: boolean;
  dialled: boolean;
}): HangupDisposition {
  if (leg.answered) return 'send_bye';
  // An outbound call without an INVITE is refused; CANCEL needs a pending INVITE.
  return leg.direction === 'inbound' || !leg.dialled ? 'send_refuse' : 'send_cancel';
}
