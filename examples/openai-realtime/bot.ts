/**
 * OpenAI Realtime: `OPENAI_API_KEY=… node examples/openai-realtime/bot.ts [port]`
 *
 * The engine stops the bot when the caller speaks, and reports how much was heard; the model's transcript is truncated
 * there. OPENAI_URL sets a compatible server.
 */
import { type Bot, type BotSocket, portOr, serveBot } from '../bot-server.ts';
import { type Event, part, VendorSocket } from '../vendor-socket.ts';

const { OPENAI_API_KEY: KEY = '', OPENAI_MODEL: MODEL = 'gpt-realtime' } = process.env;
const URL_OF_VENDOR =
  process.env['OPENAI_URL'] ?? `wss://api.openai.com/v1/realtime?model=${MODEL}`;

const SESSION = {
  type: 'realtime',
  instructions: 'You are the receptionist of a dental practice. Be brief and friendly.',
  output_modalities: ['audio'],
  audio: {
    input: { format: { type: 'audio/pcmu' }, turn_detection: { type: 'server_vad' } },
    output: { format: { type: 'audio/pcm', rate: 24_000 }, voice: 'marin' },
  },
  tools: [{ type: 'function', name: 'end_call', description: 'Ends the call after the goodbye.' }],
};

function realtimeBot(socket: BotSocket): Bot {
  /** Item that the caller hears, and whether the model still generates it. */
  let item = '';
  let isResponding = false;
  let isEnding = false;

  const model = new VendorSocket(URL_OF_VENDOR, KEY ? { Authorization: `Bearer ${KEY}` } : {}, {
    opened: () => model.send({ type: 'session.update', session: SESSION }),
    message: read,
    lost: (cause) => {
      console.log(cause);
      socket.close();
    },
  });

  function read(event: Event): void {
    switch (event['type']) {
      case 'session.updated':
        model.send({ type: 'response.create', response: { instructions: 'Greet the caller.' } });
        break;
      case 'response.created':
        isResponding = true;
        break;
      case 'response.output_audio.delta':
        if (!isResponding) break;
        item = String(event['item_id']);
        socket.send({
          event: 'playAudio',
          media: { contentType: 'audio/x-l16', sampleRate: 24_000, payload: event['delta'] },
        });
        break;
      case 'response.function_call_arguments.done':
        isEnding = event['name'] === 'end_call';
        break;
      case 'response.done':
        isResponding = false;
        // Positions of later audio count from here.
        socket.send({ event: 'checkpoint', name: isEnding ? 'goodbye' : item });
        break;
      case 'error':
        console.log(`vendor: ${part(event, 'error')['message']}`);
        break;
      default:
    }
  }

  return {
    message(message) {
      if (message.event === 'media') {
        model.send({ type: 'input_audio_buffer.append', audio: message.media.payload });
      } else if (message.event === 'clearedAudio' && item !== '') {
        if (isResponding) model.send({ type: 'response.cancel' });
        isResponding = false;
        const audio_end_ms = message.playedMs ?? 0;
        console.log(`interrupted after ${audio_end_ms} ms`);
        model.send({
          type: 'conversation.item.truncate',
          item_id: item,
          content_index: 0,
          audio_end_ms,
        });
        item = '';
      } else if (message.event === 'playedStream' && message.name === 'goodbye') {
        socket.close();
      }
    },
    closed: () => model.close(),
  };
}

serveBot(
  portOr(9010),
  { contentType: 'audio/x-mulaw;rate=8000', bargeIn: 'clear', playPositions: true },
  realtimeBot,
  '<Speak>Goodbye.</Speak>',
);
