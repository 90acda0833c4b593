/**
 * Gemini Live: `GEMINI_API_KEY=… node examples/gemini-live/bot.ts [port]`
 *
 * The caller's audio is L16 at 16 kHz. The engine stops the bot when the caller speaks; the model notices it too.
 * GEMINI_URL sets a compatible server.
 */
import { type Bot, type BotSocket, portOr, serveBot } from '../bot-server.ts';
import { type Event, part, VendorSocket } from '../vendor-socket.ts';

const { GEMINI_API_KEY: KEY = '', GEMINI_MODEL: MODEL = 'gemini-2.5-flash-native-audio-latest' } =
  process.env;
const URL_OF_VENDOR =
  process.env['GEMINI_URL'] ??
  'wss://generativelanguage.googleapis.com/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent';

const SETUP = {
  model: `models/${MODEL}`,
  generationConfig: { responseModalities: ['AUDIO'] },
  systemInstruction: { parts: [{ text: 'Ask how satisfied the caller was, from 1 to 5.' }] },
};

function geminiBot(socket: BotSocket): Bot {
  let isReady = false;

  const model = new VendorSocket(URL_OF_VENDOR, KEY ? { 'x-goog-api-key': KEY } : {}, {
    opened: () => model.send({ setup: SETUP }),
    message: read,
    lost: (cause) => {
      console.log(cause);
      socket.close();
    },
  });

  function read(message: Event): void {
    if ('setupComplete' in message) {
      isReady = true;
      model.send({ realtimeInput: { text: 'Greet the caller.' } });
    }
    const content = part(message, 'serverContent');
    const parts = part(content, 'modelTurn')['parts'];
    for (const piece of Array.isArray(parts) ? (parts as readonly Event[]) : []) play(piece);
    if (content['interrupted'] === true) socket.send({ event: 'clearAudio' });
  }

  function play(piece: Event): void {
    const { data, mimeType } = part(piece, 'inlineData');
    const [, rate] = /^audio\/pcm;rate=(\d+)/.exec(String(mimeType)) ?? [];
    if (typeof data !== 'string' || rate === undefined) return;
    const media = { contentType: 'audio/x-l16', sampleRate: Number(rate), payload: data };
    socket.send({ event: 'playAudio', media });
  }

  return {
    message(message) {
      // The vendor accepts no audio before it has confirmed the setup.
      if (message.event !== 'media' || !isReady) return;
      const audio = { data: message.media.payload, mimeType: 'audio/pcm;rate=16000' };
      model.send({ realtimeInput: { audio } });
    },
    closed: () => model.close(),
  };
}

serveBot(
  portOr(9012),
  { contentType: 'audio/x-l16;rate=16000', bargeIn: 'clear' },
  geminiBot,
  '<Speak>Goodbye.</Speak>',
);
