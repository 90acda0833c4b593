/**
 * LiveKit Agents: connects callers to a LiveKit SIP trunk.
 *
 * `LIVEKIT_SIP=PROJECT.sip.livekit.cloud LIVEKIT_PASSWORD=… node examples/livekit/answer.ts [port]`
 */
import { serveReplies, xml } from '../answer-server.ts';
import { portOr, publicUrl } from '../bot-server.ts';

const PORT = portOr(9031);
const {
  LIVEKIT_SIP = '127.0.0.1:5060',
  LIVEKIT_NUMBER = '+14155550199',
  LIVEKIT_USERNAME = 'carillon',
  LIVEKIT_PASSWORD = '',
  LIVEKIT_TRANSPORT = 'tcp',
  CALLER_ID,
} = process.env;
/** The number to show; without it, the default caller ID of the account. */
const callerId = CALLER_ID ? ` callerId="${xml(CALLER_ID)}"` : '';
const URI = `sip:${LIVEKIT_NUMBER}@${LIVEKIT_SIP};transport=${LIVEKIT_TRANSPORT}`;

serveReplies(PORT, {
  '/answer': ({ parameters }) =>
    `<Response><Dial action="${publicUrl(PORT)}/end"${callerId} sipHeaders="Call=${xml(parameters.get('CallUUID') ?? '')}">` +
    `<User sipAuthUsername="${xml(LIVEKIT_USERNAME)}" sipAuthPassword="${xml(LIVEKIT_PASSWORD)}">${xml(URI)}</User>` +
    '</Dial></Response>',
  '/end'({ parameters }) {
    const status = parameters.get('DialStatus');
    console.log(`the agent's leg: ${status}`);
    return status === 'completed'
      ? '<Response><Hangup/></Response>'
      : '<Response><Speak>The assistant is not available. Please call again later.</Speak></Response>';
  },
});
