/**
 * A model made of a streaming recognizer, chat completions and speech synthesis. Each turn of the caller starts one
 * response: the chat model writes sentences, which are synthesized in order while it continues.
 */
import type { ModelSettings } from '../agent-file.ts';
import type { Model, ModelEvents, ModelOptions, ToolCall } from '../model/model.ts';
import { type ChatMessage, type ChatSettings, chat } from './chat.ts';
import { MAX_TURN, type Recognizer } from './recognition.ts';
import { openRecognizer } from './recognizer.ts';
import { Sentences } from './sentences.ts';
import { SPEECH_RATE_HZ, type SpeechSettings, speak } from './speech.ts';

/** Messages kept besides the instructions; the oldest are dropped. */
const MAX_MESSAGES = 200;
/** Maximum function calls in a row without an utterance of the caller. */
const MAX_ROUNDS = 8;
const BYTES_PER_MS = (SPEECH_RATE_HZ * 2) / 1000;

interface SpokenSentence {
  readonly text: string;
  durationMs: number;
}

/** A response that is being generated. */
interface Running {
  readonly item: string;
  readonly over: AbortController;
  readonly spoken: SpokenSentence[];
}

export class Pipeline implements Model {
  readonly input = 'audio/x-l16;rate=16000';
  readonly #chat: ChatSettings;
  readonly #speech: SpeechSettings;
  readonly #options: ModelOptions;
  readonly #events: ModelEvents;
  readonly #recognizer: Recognizer;
  readonly #messages: ChatMessage[] = [];
  readonly #waitingCalls = new Map<string, string | undefined>();
  #running: Running | undefined;
  #last: Running | undefined;
  /** Words of the caller during a response that may not be interrupted. They are answered after it. */
  #held = '';
  #items = 0;
  #rounds = 0;
  #speaking = false;
  #closed = false;

  constructor(settings: ModelSettings, options: ModelOptions, events: ModelEvents) {
    const { recognizer, chat: chatSettings, speech } = settings;
    if (recognizer === undefined || chatSettings === undefined || speech === undefined)
      throw new Error('a pipeline needs recognizer, chat and speech');
    this.#chat = chatSettings;
    this.#speech = speech;
    this.#options = options;
    this.#events = events;
    const { connectMs, clock, network } = options;
    this.#recognizer = openRecognizer(
      recognizer,
      { connectMs, clock, network },
      {
        ready: () => events.ready(),
        began: () => {
          if (!this.#speaking) events.callerSpeaks();
          this.#speaking = true;
        },
        turn: (text) => this.#turn(text),
        silent: () => {
          this.#speaking = false;
        },
        warning: (text) => events.warning(text),
        failed: (cause) => this.#fail(cause),
      },
    );
  }

  hear(payload: string): void {
    this.#recognizer.hear(Buffer.from(payload, 'base64'));
  }

  greet(text: string): void {
    const running = this.#start();
    void this.#guarded(running, async () => {
      await this.#say(running, text);
      this.#finish(running, text);
    });
  }

  interrupted(item: string, playedMs: number): void {
    const response = [this.#running, this.#last].find((one) => one?.item === item);
    if (response === undefined) return;
    response.over.abort();
    if (this.#running === response) this.#running = undefined;
    this.#truncate(response, playedMs);
  }

  notify(text: string): void {
    this.#turnOf(text);
  }

  toolResult({ id }: ToolCall, result: string): void {
    if (!this.#waitingCalls.has(id)) return;
    this.#waitingCalls.set(id, result);
    if ([...this.#waitingCalls.values()].includes(undefined)) return;
    for (const [callId, content] of this.#waitingCalls)
      this.#remember({ role: 'tool', tool_call_id: callId, content: content ?? '' });
    this.#waitingCalls.clear();
    this.#respond();
  }

  close(): void {
    this.#closed = true;
    this.#running?.over.abort();
    this.#recognizer.close();
  }

  #turn(text: string): void {
    this.#speaking = false;
    this.#events.said('caller', text);
    this.#turnOf(text);
  }

  #turnOf(text: string): void {
    const words = `${this.#held} ${text}`.trim().slice(0, MAX_TURN);
    const running = this.#running;
    // Also for words that wait: the running response must continue in time.
    this.#events.callerFinished();
    if (running !== undefined && !this.#options.interruptible) {
      this.#held = words;
      return;
    }
    this.#held = '';
    this.#rounds = 0;
    this.#cancelCalls();
    if (running !== undefined) this.#replace(running);
    this.#remember({ role: 'user', content: words });
    this.#respond();
  }

  /** Ends a response for the next one. Without an interruption, the caller hears all audio that it has. */
  #replace(running: Running): void {
    running.over.abort();
    const isHeard = running.spoken.some(({ durationMs }) => durationMs > 0);
    if (isHeard) this.#truncate(running, Number.POSITIVE_INFINITY);
  }

  /** The chat protocol requires a result for every function call before the next message of the caller. */
  #cancelCalls(): void {
    if (this.#waitingCalls.size === 0) return;
    for (const [id, content] of this.#waitingCalls)
      this.#remember({
        role: 'tool',
        tool_call_id: id,
        content: content ?? 'cancelled: the caller continued to speak',
      });
    this.#events.toolsCancelled([...this.#waitingCalls.keys()]);
    this.#waitingCalls.clear();
  }

  #respond(): void {
    this.#rounds += 1;
    if (this.#rounds > MAX_ROUNDS) {
      this.#fail('the model called functions endlessly');
      return;
    }
    const running = this.#start();
    void this.#guarded(running, () => this.#generate(running));
  }

  #start(): Running {
    this.#items += 1;
    const running = { item: `item-${this.#items}`, over: new AbortController(), spoken: [] };
    this.#running = running;
    this.#last = running;
    return running;
  }

  async #guarded(running: Running, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (running.over.signal.aborted || this.#closed) return;
      const why = error instanceof Error ? error.message : String(error);
      this.#fail(/^(the chat|speech)/.test(why) ? why : `the model request failed: ${why}`);
    }
  }

  async #generate(running: Running): Promise<void> {
    const { instructions, tools, network } = this.#options;
    const within = { network, signal: running.over.signal };
    const sentences = new Sentences();
    const calls: ToolCall[] = [];
    let text = '';
    let speech = Promise.resolve();
    const say = (sentence: string): void => {
      speech = speech.then(() => this.#say(running, sentence));
      // The rejection is reported when the queue is awaited below.
      speech.catch(() => undefined);
    };
    const messages: readonly ChatMessage[] = [
      { role: 'system', content: instructions },
      ...this.#messages,
    ];
    for await (const piece of chat(this.#chat, { messages, tools }, within)) {
      if (piece.kind === 'text') {
        text += piece.text;
        for (const sentence of sentences.add(piece.text)) say(sentence);
      } else if (piece.kind === 'tool') {
        calls.push(piece);
      } else if (piece.kind === 'usage') {
        this.#events.used({
          audioInput: 0,
          audioOutput: 0,
          textInput: piece.input,
          textOutput: piece.output,
        });
      } else {
        const what =
          piece.kind === 'filtered' ? 'the response was filtered' : 'an event is malformed';
        this.#events.warning(`chat: ${what}`);
      }
    }
    for (const sentence of sentences.rest()) say(sentence);
    await speech;
    if (running.over.signal.aborted) return;
    if (text.trim() === '' && calls.length === 0)
      throw new Error('the chat model returned nothing');
    this.#finish(running, text.trim(), calls);
  }

  #finish(running: Running, text: string, calls: readonly ToolCall[] = []): void {
    if (running.over.signal.aborted) return;
    if (this.#running === running) this.#running = undefined;
    const toolCalls = calls.map(({ id, name, arguments: args }) => ({
      id,
      type: 'function',
      function: { name, arguments: args },
    }));
    this.#remember({
      role: 'assistant',
      content: text === '' ? null : text,
      ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    });
    if (text !== '') this.#events.said('bot', text);
    for (const { id } of calls) this.#waitingCalls.set(id, undefined);
    for (const call of calls) this.#events.tool(call);
    this.#events.responded();
    // Words that wait do not cancel the function calls: they are answered after the results.
    if (this.#held !== '' && calls.length === 0) this.#turnOf('');
  }

  async #say({ item, over, spoken }: Running, text: string): Promise<void> {
    if (over.signal.aborted) return;
    const sentence = { text, durationMs: 0 };
    spoken.push(sentence);
    const { network } = this.#options;
    for await (const pcm of speak(this.#speech, text, { network, signal: over.signal })) {
      if (over.signal.aborted) return;
      sentence.durationMs += pcm.length / BYTES_PER_MS;
      this.#events.audio({ item, payload: pcm.toString('base64'), rate: SPEECH_RATE_HZ });
    }
  }

  /** Shortens the response in the history to the words that the caller heard. */
  #truncate({ spoken }: Running, playedMs: number): void {
    const heard: string[] = [];
    let leftMs = playedMs;
    for (const { text, durationMs } of spoken) {
      if (leftMs <= 0 || durationMs === 0) break;
      const words = text.split(/\s+/);
      heard.push(
        words
          .slice(0, Math.ceil((words.length * Math.min(leftMs, durationMs)) / durationMs))
          .join(' '),
      );
      leftMs -= durationMs;
    }
    const content = `${heard.join(' ')} …`.trim();
    const last = this.#messages.at(-1);
    if (last?.role === 'assistant' && !last.tool_calls) this.#messages.pop();
    else if (heard.length > 0) this.#events.said('bot', content);
    if (heard.length > 0) this.#remember({ role: 'assistant', content });
  }

  #remember(message: ChatMessage): void {
    this.#messages.push(message);
    while (this.#messages.length > MAX_MESSAGES) this.#messages.shift();
    // A result without its call is invalid.
    while (this.#messages[0]?.role === 'tool') this.#messages.shift();
  }

  #fail(cause: string): void {
    if (this.#closed) return;
    this.close();
    this.#events.failed(cause);
  }
}
