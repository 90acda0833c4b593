/**
 * Speech menu: `node examples/speech-ivr/app.ts [port]`
 *
 * Callers say or press their choice. Keys work without a recognizer. SALES and SUPPORT are numbers or SIP URIs.
 */
import { serveReplies, xml } from '../answer-server.ts';
import { portOr, publicUrl } from '../bot-server.ts';

const PORT = portOr(9020);
const BASE = publicUrl(PORT);
const MIN_CONFIDENCE = 0.4;
const { SALES = '14155550123', SUPPORT = '14155550124', CALLER_ID } = process.env;
/** The number to show; without it, the default caller ID of the account. */
const callerId = CALLER_ID ? ` callerId="${xml(CALLER_ID)}"` : '';

const CHOICES = [
  { digit: '1', words: /sales|buy|order/i, say: 'the sales team', to: SALES },
  { digit: '2', words: /support|help|problem/i, say: 'support', to: SUPPORT },
];

const response = (elements: string): string => `<Response>${elements}</Response>`;

const menu = (before = ''): string =>
  response(
    `${before}<GetInput action="${BASE}/choice" inputType="dtmf speech" numDigits="1" executionTimeout="5" hints="sales, support">` +
      '<Speak>Say sales or support, or press 1 or 2.</Speak></GetInput>' +
      '<Speak>I did not hear you. Goodbye.</Speak>',
  );

function choice(parameters: URLSearchParams): string {
  const [speech, digits] = [parameters.get('Speech') ?? '', parameters.get('Digits') ?? ''];
  // A recognizer that reports no confidence leaves it empty.
  const confidence = Number(parameters.get('SpeechConfidenceScore') || 1);
  const chosen = CHOICES.find(
    ({ digit, words }) =>
      digit === digits || (speech !== '' && confidence >= MIN_CONFIDENCE && words.test(speech)),
  );
  console.log(`choice: ${digits || speech} → ${chosen?.say ?? 'none'}`);
  if (chosen === undefined) return menu('<Speak>I did not understand that.</Speak>');
  const party = /^sip:/.test(chosen.to)
    ? `<User>${xml(chosen.to)}</User>`
    : `<Number>${xml(chosen.to)}</Number>`;
  return response(
    `<Speak>I connect you to ${chosen.say}.</Speak><Dial action="${BASE}/end" timeout="30"${callerId}>${party}</Dial>`,
  );
}

const end = (parameters: URLSearchParams): string =>
  parameters.get('DialStatus') === 'completed'
    ? response('<Hangup/>')
    : response('<Speak>No one is free at the moment. Please call again later.</Speak>');

serveReplies(PORT, {
  '/answer': () => menu(),
  '/choice': ({ parameters }) => choice(parameters),
  '/end': ({ parameters }) => end(parameters),
});
