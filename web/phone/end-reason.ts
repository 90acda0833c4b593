/** Why a call ended, as a sentence for the person at the phone. */

/** Facts about the end of a call. */
export interface EndFacts {
  /** Action of this phone that ended the call; undefined: the other side or the service ended it. */
  readonly own: 'hangup' | 'decline' | undefined;
  /** The final response to the INVITE of this phone, from 300. */
  readonly status: { readonly code: number; readonly phrase: string } | undefined;
  /** A request of the service ended the call; `reason` is its Reason header field (RFC 3326). */
  readonly request: { readonly method: 'BYE' | 'CANCEL'; readonly reason: string } | undefined;
  /** An error in the browser: no microphone, no connection. */
  readonly error: unknown;
}

/** Statuses of RFC 3261 §21 that a caller meets. */
const STATUSES: Readonly<Record<number, string>> = {
  402: 'The account has not enough credit',
  403: 'The service does not allow this call',
  404: 'This number or name does not exist',
  408: 'The other side did not respond',
  480: 'The other side did not answer or is not registered',
  484: 'The number is incomplete',
  486: 'The other side is busy',
  487: 'The call was canceled',
  488: 'The other side does not support the audio of this browser',
  502: 'The destination cannot be reached',
  503: 'The service cannot take the call now',
  600: 'The other side is busy',
  603: 'The other side declined the call',
  604: 'This number or name does not exist',
};

const MICROPHONE: Readonly<Record<string, string>> = {
  NotAllowedError: 'The browser denied access to the microphone. Allow it in the site settings.',
  NotFoundError: 'No microphone was found. Connect one and call again.',
  NotReadableError: 'Another program uses the microphone. Close it and call again.',
};

/** Cause of ITU-T Q.850 for an ordinary hang-up. */
const NORMAL = /\bcause=(16|31)\b/;
const ELSEWHERE = /^SIP\s*;\s*cause=200\b/i;

export function endReason({ own, status, request, error }: EndFacts): string {
  if (own === 'decline') return 'You declined the call.';
  if (own === 'hangup') return 'You hung up.';
  if (status !== undefined) return ofStatus(status.code, status.phrase);
  if (request !== undefined) return ofRequest(request.method, request.reason);
  if (error !== undefined) return ofError(error);
  return 'The call ended without a reason.';
}

function ofStatus(code: number, phrase: string): string {
  const text = STATUSES[code] ?? 'The call was refused';
  return `${text} (${`${code} ${phrase}`.trim()}).`;
}

function ofRequest(method: 'BYE' | 'CANCEL', reason: string): string {
  if (ELSEWHERE.test(reason)) return 'The call was answered on another phone.';
  if (method === 'CANCEL') return 'The caller hung up before you answered.';
  const text = /\btext="([^"]*)"/.exec(reason)?.[1] ?? '';
  if (reason === '' || text === '' || NORMAL.test(reason)) return 'The other side hung up.';
  return `The service ended the call: ${text}.`;
}

function ofError(error: unknown): string {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return MICROPHONE[name] ?? `The call failed: ${message.replace(/\.$/, '')}.`;
}
