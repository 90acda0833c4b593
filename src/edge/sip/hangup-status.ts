import {
  CONTACT_UNREACHABLE,
  HANGUP_CAUSES,
  type HangupCauseKey,
} from '../../domain/call/types.ts';

interface Signalled {
  /** Final response to an unanswered INVITE. */
  readonly status: number;
  /** ITU-T Q.850 cause in the Reason of a BYE or CANCEL (RFC 3326). */
  readonly q850: number;
}

const row = (status: number, q850: number): Signalled => ({ status, q850 });

/** SIP status and Q.850 cause of each hangup cause (dialect §3.12; RFC 3398 §8.2.6.1 for those with a Q.850 cause). */
const SIGNALLED: Readonly<Record<HangupCauseKey, Signalled>> = {
  unknown: row(500, 31),
  canceled: row(487, 16),
  outOfCredits: row(402, 21),
  simultaneousDialLimit: row(486, 21),
  invalidDestination: row(484, 28),
  destinationOutOfService: row(502, 27),
  endpointNotRegistered: row(480, 20),
  countryBarred: row(403, 21),
  numberBarred: row(403, 21),
  prefixBarred: row(403, 21),
  loopDetected: row(482, 25),
  mediaAnchoring: row(488, 79),
  numberSuspended: row(480, 21),
  noAnswer: row(480, 19),
  busy: row(486, 17),
  rejected: row(603, 21),
  unknownCallerId: row(403, 21),
  forbidden: row(403, 21),
  unallocated: row(404, 1),
  requestTimeout: row(408, 102),
  carrierError: row(502, 41),
  carrierCongestion: row(503, 42),
  busyEverywhere: row(600, 17),
  declined: row(603, 21),
  userDoesNotExist: row(604, 1),
  spamBlock: row(608, 21),
  normal: row(480, 16),
  authFailed: row(403, 21),
  endOfXml: row(480, 16),
  networkError: row(503, 38),
  internalError: row(500, 41),
  unavailable: row(503, 41),
  routingError: row(404, 3),
  concurrencyBreached: row(503, 34),
  scheduled: row(480, 16),
  ringTimeout: row(480, 19),
  mediaTimeout: row(480, 102),
  answerUrlError: row(500, 41),
  actionUrlError: row(500, 41),
  transferUrlError: row(500, 41),
  redirectUrlError: row(500, 41),
  invalidActionUrl: row(500, 41),
  invalidTransferUrl: row(500, 41),
  invalidRedirectUrl: row(500, 41),
  invalidActionMethod: row(500, 41),
  invalidTransferMethod: row(500, 41),
  invalidRedirectMethod: row(500, 41),
  invalidAnswerXml: row(500, 41),
  invalidActionXml: row(500, 41),
  invalidTransferXml: row(500, 41),
  invalidRedirectXml: row(500, 41),
  lostRace: row(487, 26),
  machineDetected: row(480, 16),
  confirmKeyFailed: row(603, 21),
};

export const hangupStatus = (cause: HangupCauseKey): number => SIGNALLED[cause].status;

/** Statuses without a hangup cause that are forwarded to the caller. */
const TOLD_ON: ReadonlySet<number> = new Set([402, 405, 406, 428, 433, 436, 437, 438, 485, 493]);

/**
 * Status of a refusal. A called party's status without a hangup cause is forwarded if it is relevant to the caller.
 * Others, and redirections, become 480: a 6xx would stop attempts to other targets (RFC 3261 §21.6).
 */
export function refusalStatus(cause: HangupCauseKey, detail: string | undefined): number {
  if (detail?.startsWith(CONTACT_UNREACHABLE) === true) return SIGNALLED.noAnswer.status;
  const reported = cause === 'rejected' ? /^SIP ([34]\d\d)\b/.exec(detail ?? '')?.[1] : undefined;
  if (reported === undefined) return hangupStatus(cause);
  return TOLD_ON.has(Number(reported)) ? Number(reported) : SIGNALLED.noAnswer.status;
}

/**
 * Value of a Reason header field (RFC 3326). A leg that rang in parallel learns that another one answered (§3.1), also
 * if its caller cancelled for that reason. Its phone then shows no missed call.
 */
export function hangupReason(cause: HangupCauseKey, detail?: string): string {
  const isElsewhere =
    cause === 'lostRace' || (cause === 'canceled' && ELSEWHERE.test(detail ?? ''));
  return isElsewhere
    ? 'SIP;cause=200;text="Call completed elsewhere"'
    : `Q.850;cause=${SIGNALLED[cause].q850};text="${HANGUP_CAUSES[cause].name}"`;
}

const ELSEWHERE = /^SIP\s*;\s*cause\s*=\s*200\b/i;

/** Warning codes of RFC 3261 §20.43 by offer problem. */
const WARNINGS: ReadonlyArray<readonly [kind: string, code: number]> = [
  ['unsupportedAddress', 301],
  ['unsupportedProtocol', 302],
  ['secureMediaRequired', 302],
  ['plainMediaRefused', 302],
  ['noAudio', 304],
  ['noCommonCodec', 305],
];
/** Warning code "miscellaneous" of RFC 3261 §20.43. */
export const MISCELLANEOUS = 399;

/** Detail that names a missing permission. It is sent to the peer; other details could reveal too much. */
const NOT_PERMITTED = 'notPermitted';

/** Warning header field that explains an unusable offer (488), a forbidden call (403) or a reached limit (503). */
export function hangupWarning(
  cause: HangupCauseKey,
  detail: string | undefined,
): { readonly code: number; readonly text: string } | undefined {
  if (detail?.startsWith(NOT_PERMITTED) === true) return { code: MISCELLANEOUS, text: detail };
  if (detail === undefined) return undefined;
  if (cause === 'concurrencyBreached' || cause === 'unavailable')
    return { code: MISCELLANEOUS, text: detail };
  if (hangupStatus(cause) !== 488) return undefined;
  const known = WARNINGS.find(([kind]) => detail.startsWith(kind));
  return { code: known?.[1] ?? MISCELLANEOUS, text: detail };
}
