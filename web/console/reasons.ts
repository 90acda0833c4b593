/** Explains why a call ended, by the code of the hangup cause. */
import { number, type Row, text } from './api.ts';

const SENTENCES: Readonly<Record<number, string>> = {
  1000: 'The caller hung up before the call was answered.',
  1010: 'The balance of the account did not cover the call.',
  1020: 'Too many destinations were dialled at the same time.',
  2000: 'The number is not valid.',
  2010: 'The destination is out of service.',
  2020: 'The called endpoint is not registered: its phone is off or cannot reach the service.',
  2030: 'The country of the number is barred for this account.',
  2040: 'The number is barred.',
  2050: 'The prefix of the number is barred for this account.',
  2060: 'The call was routed in a loop.',
  2070: 'The two sides share no usable audio: codec, encryption or address of the offer.',
  3000: 'The call was not answered.',
  3010: 'The called party is busy.',
  3020: 'The called party refused the call.',
  3030: 'The account may not present this caller ID.',
  3040: 'The caller may not make this call.',
  3050: 'The number is not in use.',
  3070: 'The other side did not answer the signalling in time.',
  3080: 'The carrier failed.',
  3090: 'The carrier has no free line.',
  3100: 'The called party is busy on every line.',
  3110: 'The called party declined.',
  3120: 'The called user does not exist.',
  3130: 'The call was blocked as spam.',
  4010: 'The document ended without another element, so the call ended.',
  4240: 'The password of the caller was wrong.',
  5000: 'The network between the service and the other side failed.',
  5010: 'The service failed. See its log for the cause.',
  5020: 'No application or route handles this call. Assign an application or add a route.',
  5030: 'All permitted calls were in use; the detail names the limit.',
  6000: 'The time limit of the call was reached.',
  6010: 'The ringing time limit was reached without an answer.',
  6020: 'The other side stopped sending audio.',
  7011: 'The answer URL could not be reached, or answered with an error.',
  7012: 'An action URL could not be reached, or answered with an error.',
  7013: 'The transfer URL could not be reached, or answered with an error.',
  7014: 'The redirect URL could not be reached, or answered with an error.',
  8011: 'The answer URL answered with a document that is not valid; the timeline shows line and column.',
  8012: 'An action URL answered with a document that is not valid.',
  8013: 'The transfer URL answered with a document that is not valid.',
  8014: 'The redirect URL answered with a document that is not valid.',
  9000: 'Another phone that rang at the same time answered.',
  9100: 'A machine answered.',
  9110: 'The key that confirms the call was not pressed.',
};

const WHO: Readonly<Record<string, string>> = {
  Caller: 'The caller hung up.',
  Callee: 'The called party hung up.',
  'API Request': 'An API request or a console user hung up.',
  Platform: 'The service hung up.',
  Carrier: 'The carrier hung up.',
};

export function whyEnded(record: Row): string {
  const code = number(record['hangup_cause_code']);
  const source = text(record['hangup_source']);
  const detail = text(record['failure_reason']);
  const sentence =
    code === 4000
      ? (WHO[source] ?? 'The call ended normally.')
      : (SENTENCES[code] ?? `${text(record['hangup_cause_name'])} (${source}).`);
  return detail === '' ? sentence : `${sentence} ${detail}`;
}

/** Names of the causes for filters, by code. */
export const CAUSES: ReadonlyArray<readonly [code: string, name: string]> = [
  ['4000', 'Normal hangup'],
  ['4010', 'End of document'],
  ['1000', 'Cancelled'],
  ['1010', 'No balance'],
  ['2000', 'Invalid number'],
  ['2020', 'Endpoint not registered'],
  ['2070', 'No common media'],
  ['3000', 'No answer'],
  ['3010', 'Busy'],
  ['3020', 'Rejected'],
  ['3030', 'Unknown caller ID'],
  ['3040', 'Forbidden'],
  ['3070', 'Signaling timeout'],
  ['3080', 'Carrier error'],
  ['5000', 'Network error'],
  ['5010', 'Internal error'],
  ['5020', 'No route'],
  ['5030', 'Call limit'],
  ['6000', 'Time limit'],
  ['6010', 'Ring timeout'],
  ['6020', 'Media timeout'],
  ['7011', 'Answer URL failed'],
  ['7012', 'Action URL failed'],
  ['8011', 'Invalid answer XML'],
  ['8012', 'Invalid action XML'],
  ['9100', 'Machine detected'],
];
