/**
 * Deepgram, a chat model and speech synthesis: `node examples/deepgram-pipeline/bot.ts [port]`
 *
 * Set DEEPGRAM_API_KEY and OPENAI_API_KEY, or DEEPGRAM_URL, CHAT_URL and SPEECH_URL for servers of your own.
 */
import { type Bot, type BotSocket, portOr, type ServiceMessage, serveBot } from '../bot-server.ts';
import { type Event, part, VendorSocket } from '../vendor-socket.ts';

const OPENAI = 'https://api.openai.com/v1';
const {
  DEEPGRAM_API_KEY = '',
  OPENAI_API_KEY = '',
  DEEPGRAM_URL = 'wss://api.deepgram.com/v1/listen',
  CHAT_URL = OPENAI,
  CHAT_MODEL = 'gpt-4o-mini',
  SPEECH_URL = OPENAI,
  SPEECH_MODEL = 'gpt-4o-mini-tts',
} = process.env;
const LISTEN = '?encoding=linear16&sample_rate=16000&interim_results=true&endpointing=300';
/** Turns that the chat model remembers. */
const MAX_TURNS = 40;
const INSTRUCTIONS =
  'You answer questions about opening hours: weekdays, 9 to 17 o’clock. Be brief.';
const GREETING = 'Hello, what do you want to know?';
const APOLOGY = 'Sorry, I did not get that.';

interface Turn {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** One call: its turns, and the answer in progress. */
class PipelineBot implements Bot {
  readonly #socket: BotSocket;
  readonly #recognizer: VendorSocket;
  readonly #turns: Turn[] = [{ role: 'system', content: INSTRUCTIONS }];
  #words = '';
  /** Ends the answer in progress. */
  #current = new AbortController();

  constructor(socket: BotSocket) {
    this.#socket = socket;
    const headers = DEEPGRAM_API_KEY ? { Authorization: `Token ${DEEPGRAM_API_KEY}` } : {};
    this.#recognizer = new VendorSocket(`${DEEPGRAM_URL}${LISTEN}`, headers, {
      message: (event) => this.#recognized(event),
      lost: (cause) => {
        console.log(cause);
        socket.close();
      },
    });
  }

  message(message: ServiceMessage): void {
    if (message.event === 'start') {
      void this.#say(GREETING, this.#current.signal).catch(console.log);
    } else if (message.event === 'media') {
      this.#recognizer.send(Buffer.from(message.media.payload, 'base64'));
    } else if (message.event === 'clearedAudio') {
      this.#current.abort();
    }
  }

  closed(): void {
    this.#current.abort();
    this.#recognizer.send({ type: 'CloseStream' });
    this.#recognizer.close();
  }

  #recognized(event: Event): void {
    if (event['type'] !== 'Results' || event['is_final'] !== true) return;
    const [best] = part(event, 'channel')['alternatives'] as readonly Event[];
    this.#words = `${this.#words} ${best?.['transcript'] ?? ''}`.trim();
    if (event['speech_final'] !== true || this.#words === '') return;
    console.log(`caller: ${this.#words}`);
    this.#turns.push({ role: 'user', content: this.#words });
    this.#turns.splice(1, Math.max(0, this.#turns.length - MAX_TURNS));
    this.#words = '';
    void this.#answer();
  }

  async #answer(): Promise<void> {
    this.#current.abort();
    this.#current = new AbortController();
    const { signal } = this.#current;
    try {
      const text = await chat(this.#turns, signal);
      this.#turns.push({ role: 'assistant', content: text });
      console.log(`bot: ${text}`);
      await this.#say(text, signal);
    } catch (error) {
      if (signal.aborted) return;
      console.log(`${error}`);
      await this.#say(APOLOGY, signal).catch(() => this.#socket.close());
    }
  }

  async #say(text: string, signal: AbortSignal): Promise<void> {
    for await (const payload of speech(text, signal)) {
      const media = { contentType: 'audio/x-l16', sampleRate: 24_000, payload };
      this.#socket.send({ event: 'playAudio', media });
    }
  }
}

const post = async (url: string, body: object, signal: AbortSignal): Promise<Response> => {
  const headers = {
    'Content-Type': 'application/json',
    ...(OPENAI_API_KEY && { Authorization: `Bearer ${OPENAI_API_KEY}` }),
  };
  const limits = AbortSignal.any([signal, AbortSignal.timeout(10_000)]);
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
    signal: limits,
  });
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return response;
};

async function chat(messages: readonly Turn[], signal: AbortSignal): Promise<string> {
  const response = await post(
    `${CHAT_URL}/chat/completions`,
    { model: CHAT_MODEL, messages },
    signal,
  );
  const { choices } = (await response.json()) as {
    readonly choices: readonly { readonly message: { readonly content: string } }[];
  };
  return choices[0]?.message.content ?? APOLOGY;
}

/** Yields L16 at 24 kHz in base64, in pieces of whole samples. */
async function* speech(text: string, signal: AbortSignal): AsyncGenerator<string> {
  const body = { model: SPEECH_MODEL, voice: 'alloy', input: text, response_format: 'pcm' };
  const response = await post(`${SPEECH_URL}/audio/speech`, body, signal);
  let rest = Buffer.alloc(0);
  for await (const chunk of response.body ?? []) {
    const bytes = Buffer.concat([rest, chunk]);
    const whole = bytes.length - (bytes.length % 2);
    rest = bytes.subarray(whole);
    if (whole > 0) yield bytes.subarray(0, whole).toString('base64');
  }
}

serveBot(
  portOr(9014),
  { contentType: 'audio/x-l16;rate=16000', bargeIn: 'clear' },
  (socket) => new PipelineBot(socket),
  '<Speak>Goodbye.</Speak>',
);
