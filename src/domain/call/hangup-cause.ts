/**
 * Hangup causes of dialect §3.12. `cause` is the text in callbacks and CDRs. NORMAL_CLEARING means that a party or the
 * document ended the call as intended. ALLOTTED_TIMEOUT is the FreeSWITCH term for a scheduled end.
 */
export const HANGUP_CAUSES = {
  unknown: { code: 0, name: 'Unknown', cause: 'UNKNOWN' },
  canceled: { code: 1000, name: 'Canceled', cause: 'ORIGINATOR_CANCEL' },
  outOfCredits: { code: 1010, name: 'Canceled (Out Of Credits)', cause: 'CALL_REJECTED' },
  simultaneousDialLimit: {
    code: 1020,
    name: 'Canceled (Simultaneous dial limit reached)',
    cause: 'CALL_REJECTED',
  },
  invalidDestination: { code: 2000, name: 'Invalid Destination Address', cause: 'INVALID_NUMBER' },
  destinationOutOfService: {
    code: 2010,
    name: 'Destination Out Of Service',
    cause: 'DESTINATION_OUT_OF_ORDER',
  },
  endpointNotRegistered: {
    code: 2020,
    name: 'Endpoint Not Registered',
    cause: 'USER_NOT_REGISTERED',
  },
  countryBarred: { code: 2030, name: 'Destination Country Barred', cause: 'CALL_REJECTED' },
  numberBarred: { code: 2040, name: 'Destination Number Barred', cause: 'CALL_REJECTED' },
  prefixBarred: { code: 2050, name: 'Destination Prefix Barred', cause: 'CALL_REJECTED' },
  loopDetected: { code: 2060, name: 'Loop Detected', cause: 'NORMAL_TEMPORARY_FAILURE' },
  mediaAnchoring: { code: 2070, name: 'Violates Media Anchoring', cause: 'PROTOCOL_ERROR' },
  /** Platform-specific: the renewal of the called number could not be paid. */
  numberSuspended: { code: 2080, name: 'Number Suspended', cause: 'CALL_REJECTED' },
  noAnswer: { code: 3000, name: 'No Answer', cause: 'NO_ANSWER' },
  busy: { code: 3010, name: 'Busy Line', cause: 'USER_BUSY' },
  rejected: { code: 3020, name: 'Rejected', cause: 'CALL_REJECTED' },
  unknownCallerId: { code: 3030, name: 'Unknown Caller ID', cause: 'REJECTED' },
  forbidden: { code: 3040, name: 'Forbidden', cause: 'CALL_REJECTED' },
  unallocated: { code: 3050, name: 'Unallocated number', cause: 'UNALLOCATED_NUMBER' },
  requestTimeout: { code: 3070, name: 'Request timeout', cause: 'NORMAL_TEMPORARY_FAILURE' },
  carrierError: { code: 3080, name: 'Internal server error from carrier', cause: 'SERVER_ERROR' },
  carrierCongestion: {
    code: 3090,
    name: 'Network congestion from carrier',
    cause: 'SERVICE_UNAVAILABLE',
  },
  busyEverywhere: { code: 3100, name: 'Busy everywhere', cause: 'USER_BUSY' },
  declined: { code: 3110, name: 'Declined', cause: 'CALL_REJECTED' },
  userDoesNotExist: {
    code: 3120,
    name: 'User does not exist anywhere',
    cause: 'UNALLOCATED_NUMBER',
  },
  spamBlock: { code: 3130, name: 'Spam block', cause: 'CALL_REJECTED' },
  normal: { code: 4000, name: 'Normal Hangup', cause: 'NORMAL_CLEARING' },
  authFailed: { code: 4240, name: 'SIP Auth Failed', cause: 'CALL_REJECTED' },
  endOfXml: { code: 4010, name: 'End Of XML Instructions', cause: 'NORMAL_CLEARING' },
  networkError: { code: 5000, name: 'Network Error', cause: 'NETWORK_OUT_OF_ORDER' },
  internalError: { code: 5010, name: 'Internal Error', cause: 'SERVER_ERROR' },
  /**
   * Same code as internalError, but the failure is temporary: the caller may retry elsewhere or later (SIP 503 with
   * Retry-After).
   */
  unavailable: { code: 5010, name: 'Internal Error', cause: 'SERVER_ERROR' },
  routingError: { code: 5020, name: 'Routing Error', cause: 'DESTINATION_OUT_OF_ORDER' },
  concurrencyBreached: {
    code: 5030,
    name: 'Concurrency Limit Breached',
    cause: 'SWITCH_CONGESTION',
  },
  scheduled: { code: 6000, name: 'Scheduled Hangup', cause: 'ALLOTTED_TIMEOUT' },
  ringTimeout: { code: 6010, name: 'Ring Timeout Reached', cause: 'NO_ANSWER' },
  mediaTimeout: { code: 6020, name: 'Media Timeout', cause: 'MEDIA_TIMEOUT' },
  answerUrlError: { code: 7011, name: 'Error Reaching Answer URL', cause: 'SERVER_ERROR' },
  actionUrlError: { code: 7012, name: 'Error Reaching Action URL', cause: 'SERVER_ERROR' },
  transferUrlError: { code: 7013, name: 'Error Reaching Transfer URL', cause: 'SERVER_ERROR' },
  redirectUrlError: { code: 7014, name: 'Error Reaching Redirect URL', cause: 'SERVER_ERROR' },
  invalidActionUrl: { code: 7022, name: 'Invalid Action URL', cause: 'PROTOCOL_ERROR' },
  invalidTransferUrl: { code: 7023, name: 'Invalid Transfer URL', cause: 'PROTOCOL_ERROR' },
  invalidRedirectUrl: { code: 7024, name: 'Invalid Redirect URL', cause: 'PROTOCOL_ERROR' },
  invalidActionMethod: {
    code: 7032,
    name: 'Invalid Method For Action URL',
    cause: 'PROTOCOL_ERROR',
  },
  invalidTransferMethod: {
    code: 7033,
    name: 'Invalid Method For Transfer URL',
    cause: 'PROTOCOL_ERROR',
  },
  invalidRedirectMethod: {
    code: 7034,
    name: 'Invalid Method For Redirect URL',
    cause: 'PROTOCOL_ERROR',
  },
  invalidAnswerXml: { code: 8011, name: 'Invalid Answer XML', cause: 'PROTOCOL_ERROR' },
  invalidActionXml: { code: 8012, name: 'Invalid Action XML', cause: 'PROTOCOL_ERROR' },
  invalidTransferXml: { code: 8013, name: 'Invalid Transfer XML', cause: 'PROTOCOL_ERROR' },
  invalidRedirectXml: { code: 8014, name: 'Invalid Redirect XML', cause: 'PROTOCOL_ERROR' },
  lostRace: { code: 9000, name: 'Lost Race', cause: 'LOSE_RACE' },
  machineDetected: { code: 9100, name: 'Machine Detected', cause: 'NORMAL_CLEARING' },
  confirmKeyFailed: { code: 9110, name: 'Confirm Key Challenge Failed', cause: 'CALL_REJECTED' },
} as const satisfies Record<string, { code: number; name: string; cause: string }>;

export type HangupCauseKey = keyof typeof HANGUP_CAUSES;

/** Party or component that ended the call. Records show `Platform` as the configured platform name. */
export type HangupSource =
  | 'Caller'
  | 'Callee'
  | 'Carrier'
  | 'Platform'
  | 'API Request'
  | 'Answer XML'
  | 'Error'
  | 'Unknown';

/** Detail prefix of a call to a registered phone whose contact is unreachable. Its caller gets 480. */
export const CONTACT_UNREACHABLE = 'contactUnreachable';
