/**
 * OpenAI Realtime: `OPENAI_API_KEY=… node examples/openai-realtime/bot.ts [port]`
 *
 * The engine stops the bot when the caller speaks, and reports how much was heard; the model's transcript is truncated
 * there. OPENAI_URL sets a compatible server.
 */
import { type Bot, type BotSocket, portOr, type ServiceMessage, serveBot } from '../bot-server.ts';
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

/** One call: the socket of the service and that of the model. */
class RealtimeBot implements Bot {
  readonly #socket: BotSocket;
  readonly #model: VendorSocket;
  /** Item that the caller hears, and whether the model still generates it. */
  #item = '';
  #isResponding = false;
  #isEnding = false;

  constructor(socket: BotSocket) {
    this.#socket = socket;
    this.#model = new VendorSocket(URL_OF_VENDOR, KEY ? { Authorization: `Bearer ${KEY}` } : {}, {
      opened: () => this.#model.send({ type: 'session.update', session: SESSION }),
      message: (event) => this.#read(event),
      lost: (cause) => {
        console.log(cause);
        socket.close();
      },
    });
  }

  message(message: ServiceMessage): void {
    if (message.event === 'media') {
      this.#model.send({ type: 'input_audio_buffer.append', audio: message.media.payload });
    } else if (message.event === 'clearedAudio' && this.#item !== '') {
      this.#interrupted(message.playedMs ?? 0);
    } else if (message.event === 'playedStream' && message.name === 'goodbye') {
      this.#socket.close();
    }
  }

  closed(): void {
    this.#model.close();
  }

  #read(event: Event): void {
    switch (event['type']) {
      case 'session.updated':
        this.#model.send({
          type: 'response.create',
          response: { instructions: 'Greet the caller.' },
        });
        break;
      case 'response.created':
        this.#isResponding = true;
        break;
      case 'response.output_audio.delta':
        if (this.#isResponding) this.#play(event);
        break;
      case 'response.function_call_arguments.done':
        this.#isEnding = event['name'] === 'end_call';
        break;
      case 'response.done':
        this.#isResponding = false;
        // Positions of later audio count from here.
        this.#socket.send({ event: 'checkpoint', name: this.#isEnding ? 'goodbye' : this.#item });
        break;
      case 'error':
        console.log(`vendor: ${part(event, 'error')['message']}`);
        break;
      default:
    }
  }

  #play({ item_id: item, delta: payload }: Event): void {
    this.#item = String(item);
    const media = { contentType: 'audio/x-l16', sampleRate: 24_000, payload };
    this.#socket.send({ event: 'playAudio', media });
  }

  /** Truncates the model's transcript at the last word that the caller has heard. */
  #interrupted(audio_end_ms: number): void {
    console.log(`interrupted after ${audio_end_ms} ms`);
    if (this.#isResponding) this.#model.send({ type: 'response.cancel' });
    this.#isResponding = false;
    const truncate = { item_id: this.#item, content_index: 0, audio_end_ms };
    this.#model.send({ type: 'conversation.item.truncate', ...truncate });
    this.#item = '';
  }
}

serveBot(
  portOr(9010),
  { contentType: 'audio/x-mulaw;rate=8000', bargeIn: 'clear', playPositions: true },
  (socket) => new RealtimeBot(socket),
  '<Speak>Goodbye.</Speak>',
);
