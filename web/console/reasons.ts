/** Why a call ended, in a sentence for people; by the code of the hangup cause. */
import { number, type Row, text } from './api.ts';

const SENTENCES: Readonly<Record<number, string>> = {
  1000: 'The caller gave up before anybody answered.',
  1010: 'The balance of the account did not cover the call.',
  1020: 'Too many destinations were dialled at once.',
  2000: 'The number is no number that can be called.',
  2010: 'The destination is out of service.',
  2020: 'The called endpoint is not registered: its phone is off or cannot reach the service.',
  2030: 'The country of the number is barred for this account.',
  2040: 'The number is barred.',
  2050: 'The prefix of the number is barred for this account.',
  2060: 'The call went round in a circle.',
  2070: 'The audio of both sides does not fit: codec, encryption or address of the offer.',
  3000: 'Nobody answered.',
  3010: 'The called party is busy.',
  3020: 'The called party refused the call.',
  3030: 'The caller id is not one that the account may show.',
  3040: 'The caller may not make this call.',
  3050: 'The number is not in use.',
  3070: 'The other side did not answer the signalling in time.',
  3080: 'The carrier failed.',
  3090: 'The carrier has no free line.',
  3100: 'The called party is busy on every line.',
  3110: 'The called party declined.',
  3120: 'The called user does not exist.',
  3130: 'The call was blocked as spam.',
  4010: 'The document had no further element, so the call ended.',
  4240: 'The password of the caller was wrong.',
  5000: 'The network between the service and the other side failed.',
  5010: 'The service failed; its log says more.',
  5020: 'Nothing is set up to handle the call: no application, or no route.',
  5030: 'All permitted calls were in use; the detail says whose limit was reached.',
  6000: 'The time limit of the call was reached.',
  6010: 'It rang as long as allowed, and nobody answered.',
  6020: 'No audio came from the other side any more.',
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
  'API Request': 'A request of the API, or somebody at the console, hung up.',
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
