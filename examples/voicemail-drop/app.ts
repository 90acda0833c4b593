/**
 * Voicemail drop: calls a number; a person hears a short text, an answering machine gets a message after its beep.
 *
 * `AUTH_ID=… AUTH_TOKEN=… CALLER_ID=14155550100 node examples/voicemail-drop/app.ts [port] TO`
 */
import { Client } from '../../packages/client/src/client.ts';
import { serveReplies } from '../answer-server.ts';
import { portOr, publicUrl } from '../bot-server.ts';

const PORT = portOr(9024);
const BASE = publicUrl(PORT);
const {
  CARILLON_URL: url = 'http://127.0.0.1:8080',
  AUTH_ID: authId = '',
  AUTH_TOKEN: authToken = '',
  CALLER_ID = '14155550100',
} = process.env;
const to = process.argv[3] ?? '';

serveReplies(PORT, {
  // Without machine_detection_url, the document is requested after the verdict.
  '/answer'({ parameters }) {
    const isMachine = parameters.get('Machine') === 'true';
    console.log(isMachine ? 'a machine answered' : 'a person answered');
    return isMachine
      ? '<Response><Wait length="40" beep="true"/><Speak>This is the optician. Your new glasses are ready. Goodbye.</Speak></Response>'
      : '<Response><Speak>Hello. Your new glasses are ready. Goodbye.</Speak></Response>';
  },
  '/hangup'({ parameters }) {
    console.log(`the call ended: ${parameters.get('HangupCause')}`);
    return undefined;
  },
});
const { request_uuid } = await new Client({ url, authId, authToken }).post(
  '/api/v1/Account/{auth_id}/Call/',
  {
    body: {
      from: CALLER_ID,
      to,
      answer_url: `${BASE}/answer`,
      hangup_url: `${BASE}/hangup`,
      machine_detection: 'true',
    },
  },
);
console.log(`calling ${to}: ${request_uuid}`);
