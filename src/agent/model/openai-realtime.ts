/**
 * OpenAI Realtime over WebSocket, and compatible servers. The caller's audio passes as mu-law without conversion; the
 * model's audio is L16 at 24 kHz. `dialect: beta` uses the event names of servers that implement the earlier API.
 */
import type { ModelSettings } from '../agent-file.ts';
import {
  count,
  isPcm,
  type Json,
  JsonSocket,
  list,
  part,
  readJson,
  textOf,
} from './json-socket.ts';
import type { Model, ModelEvents, ModelOptions, ToolCall, Usage } from './model.ts';

const URL_OF_VENDOR = 'wss://api.openai.com/v1/realtime';
const DEFAULT_MODEL = 'gpt-realtime';
const DEFAULT_VOICE = 'marin';
const TRANSCRIBER = 'gpt-4o-mini-transcribe';
const OUTPUT_RATE_HZ = 24_000;
/** Errors of the vendor that concern one request; the session continues. */
const HARMLESS = new Set([
  'response_cancel_not_active',
  'conversation_already_has_active_response',
  'item_truncate_invalid_item_id',
  'input_audio_buffer_commit_empty',
]);
const MAX_WARNINGS = 20;
/** Consecutive complete responses without audio and function calls that end the session. */
const MAX_EMPTY = 3;

export class OpenAiRealtime implements Model {
  readonly input = 'audio/x-mulaw;rate=8000';
  readonly #socket: JsonSocket;
  readonly #events: ModelEvents;
  readonly #settings: ModelSettings;
  readonly #options: ModelOptions;
  /** Names of announced function calls, by call ID: the event with the arguments may lack the name. */
  readonly #names = new Map<string, string>();
  readonly #called = new Set<string>();
  /** A response is active or requested. */
  #responding = false;
  /** Event ID of the request for a response that the vendor has not begun. */
  #requested: string | undefined;
  #requests = 0;
  /** A response was requested while another one was active. */
  #wantsResponse = false;
  #cancelled = false;
  /** Items with audio of the current response. */
  readonly #spoken = new Set<string>();
  /** The caller has spoken since the begin of the last response. */
  #callerSpoke = false;
  /** The current response answers words of the caller. */
  #isAnswer = false;
  /** Empty responses since the last one with content. */
  #emptyResponses = 0;
  #warnings = 0;
  #isReady = false;

  constructor(settings: ModelSettings, options: ModelOptions, events: ModelEvents) {
    this.#settings = settings;
    this.#options = options;
    this.#events = events;
    const url = new URL(settings.url ?? URL_OF_VENDOR);
    if (!url.searchParams.has('model'))
      url.searchParams.set('model', settings.model ?? DEFAULT_MODEL);
    const { apiKey } = settings;
    this.#socket = new JsonSocket(
      {
        url: url.href,
        headers: {
          ...(apiKey && { Authorization: `Bearer ${apiKey}` }),
          ...(settings.dialect === 'beta' && { 'OpenAI-Beta': 'realtime=v1' }),
        },
        connectMs: options.connectMs,
        clock: options.clock,
        network: options.network,
      },
      {
        opened: () => this.#socket.sendFirst({ type: 'session.update', session: this.#session() }),
        message: (message) => this.#read(message),
        malformed: (why) => this.#warn(why),
        lost: (cause) => events.failed(`the model ${cause}`),
      },
    );
  }

  hear(payload: string): void {
    this.#socket.send({ type: 'input_audio_buffer.append', audio: payload });
  }

  greet(text: string): void {
    this.#respond({ instructions: `Say exactly this, and nothing else: ${text}` });
  }

  interrupted(item: string, playedMs: number): void {
    // The response that answers the interruption may have begun, and continues.
    const isItsResponse = this.#spoken.size === 0 ? !this.#isAnswer : this.#spoken.has(item);
    if (this.#responding && !this.#cancelled && isItsResponse) {
      this.#cancelled = true;
      this.#socket.send({ type: 'response.cancel' });
    }
    this.#socket.send({
      type: 'conversation.item.truncate',
      item_id: item,
      content_index: 0,
      audio_end_ms: Math.max(0, Math.floor(playedMs)),
    });
  }

  notify(text: string): void {
    const content = [{ type: 'input_text', text }];
    this.#socket.send({
      type: 'conversation.item.create',
      item: { type: 'message', role: 'user', content },
    });
    this.#respond();
  }

  toolResult({ id }: ToolCall, result: string): void {
    this.#socket.send({
      type: 'conversation.item.create',
      item: { type: 'function_call_output', call_id: id, output: result },
    });
    this.#respond();
  }

  close(): void {
    this.#socket.close();
  }

  #respond(response?: Json): void {
    if (this.#responding && response === undefined) {
      this.#wantsResponse = true;
      return;
    }
    // A second request before `response.created` would be refused, so that the result of a tool would stay unanswered.
    this.#responding = true;
    this.#requests += 1;
    this.#requested = `create-${this.#requests}`;
    this.#socket.send({
      type: 'response.create',
      event_id: this.#requested,
      ...(response && { response }),
    });
  }

  #session(): Json {
    const { instructions, tools, interruptible } = this.#options;
    const turns = { type: 'server_vad', interrupt_response: interruptible, create_response: true };
    const { model = DEFAULT_MODEL, voice, dialect } = this.#settings;
    const functions = tools.map((tool) => ({ type: 'function', ...tool }));
    if (dialect === 'beta') {
      return {
        instructions,
        tools: functions,
        modalities: ['audio', 'text'],
        voice: voice ?? 'alloy',
        input_audio_format: 'g711_ulaw',
        output_audio_format: 'pcm16',
        input_audio_transcription: { model: 'whisper-1' },
        turn_detection: turns,
      };
    }
    return {
      type: 'realtime',
      model,
      instructions,
      tools: functions,
      output_modalities: ['audio'],
      audio: {
        input: {
          format: { type: 'audio/pcmu' },
          transcription: { model: TRANSCRIBER },
          turn_detection: turns,
        },
        output: {
          format: { type: 'audio/pcm', rate: OUTPUT_RATE_HZ },
          voice: voice ?? DEFAULT_VOICE,
        },
      },
    };
  }

  #read(event: Json): void {
    switch (event['type']) {
      case 'session.updated':
        if (!this.#isReady) this.#events.ready();
        this.#isReady = true;
        break;
      case 'input_audio_buffer.speech_started':
        this.#callerSpoke = true;
        this.#events.callerSpeaks();
        break;
      case 'input_audio_buffer.speech_stopped':
        this.#events.callerFinished();
        break;
      case 'conversation.item.input_audio_transcription.completed':
        this.#said('caller', event['transcript']);
        break;
      case 'conversation.item.input_audio_transcription.failed':
        this.#warn(`a transcript failed: ${reasonOf(part(event, 'error'))}`);
        break;
      case 'response.created':
        this.#responding = true;
        this.#requested = undefined;
        this.#cancelled = false;
        this.#spoken.clear();
        this.#isAnswer = this.#callerSpoke;
        this.#callerSpoke = false;
        break;
      case 'response.output_item.added':
        this.#item(part(event, 'item'));
        break;
      case 'response.output_item.done':
        this.#itemDone(part(event, 'item'));
        break;
      case 'response.output_audio.delta':
      case 'response.audio.delta':
        this.#audio(event);
        break;
      case 'response.output_audio_transcript.done':
      case 'response.audio_transcript.done':
        this.#said('bot', event['transcript']);
        break;
      case 'response.function_call_arguments.done':
        // The vendor also sends this event for interrupted calls. Complete arguments are safe; others need the status.
        if (isComplete(event['arguments'])) this.#tool(event);
        break;
      case 'response.done':
        this.#responseDone(part(event, 'response'));
        break;
      case 'error':
        this.#error(part(event, 'error'));
        break;
      default:
        if (typeof event['type'] !== 'string') this.#warn('an event has no type');
    }
  }

  #audio({ item_id: item, delta }: Json): void {
    if (typeof item !== 'string' || !isPcm(delta)) {
      this.#warn('an audio event is malformed');
      return;
    }
    this.#spoken.add(item);
    // Audio that arrives after the interruption belongs to the cancelled response.
    if (!this.#cancelled) this.#events.audio({ item, payload: delta, rate: OUTPUT_RATE_HZ });
  }

  #said(who: 'caller' | 'bot', text: unknown): void {
    if (typeof text === 'string' && text.trim() !== '') this.#events.said(who, text.trim());
  }

  #item({ type, call_id: id, name }: Json): void {
    if (type === 'function_call' && typeof id === 'string' && typeof name === 'string')
      this.#names.set(id, name);
  }

  #itemDone(item: Json): void {
    this.#item(item);
    if (item['type'] === 'function_call' && item['status'] !== 'incomplete') this.#tool(item);
  }

  #tool(event: Json): void {
    const { call_id: id } = event;
    const name = textOf(event['name']) || (typeof id === 'string' ? this.#names.get(id) : '');
    if (typeof id !== 'string' || !name || typeof event['arguments'] !== 'string') {
      this.#warn('a function call is malformed');
      return;
    }
    if (this.#called.has(id)) return;
    this.#called.add(id);
    this.#events.tool({ id, name, arguments: event['arguments'] });
  }

  #responseDone(response: Json): void {
    this.#responding = false;
    this.#requested = undefined;
    this.#cancelled = false;
    this.#events.used(usageOf(part(response, 'usage')));
    const { status } = response;
    const details = part(response, 'status_details');
    if (status === 'failed') {
      this.#events.failed(`the model failed: ${reasonOf(part(details, 'error'))}`);
      return;
    }
    if (status === 'incomplete')
      this.#warn(`a response is incomplete: ${textOf(details['reason']).slice(0, 100)}`);
    if (status === 'completed' && this.#isEmpty(response) && !this.#mayContinue()) return;
    this.#spoken.clear();
    // A function call whose own event was lost is still in the output of the response.
    for (const item of list(response['output'])) {
      if (status === 'cancelled' && item['status'] !== 'completed') this.#item(item);
      else this.#itemDone(item);
    }
    if (this.#wantsResponse) {
      this.#wantsResponse = false;
      this.#respond();
    }
    this.#events.responded();
  }

  /** Whether a complete response has no content. Ends a series of empty responses otherwise. */
  #isEmpty(response: Json): boolean {
    const isEmpty = this.#spoken.size === 0 && list(response['output']).length === 0;
    this.#emptyResponses = isEmpty ? this.#emptyResponses + 1 : 0;
    return isEmpty;
  }

  /** Reports an empty response. The caller may speak again, but not endlessly. */
  #mayContinue(): boolean {
    this.#warn('the model gave an empty answer');
    if (this.#emptyResponses < MAX_EMPTY) return true;
    this.#events.failed('the model gives only empty answers');
    return false;
  }

  #error(error: Json): void {
    const code = textOf(error['code']);
    if (error['event_id'] === this.#requested && this.#requested !== undefined) {
      this.#requested = undefined;
      // The vendor detected the end of the caller's turn at the same time and began its own response.
      if (code === 'conversation_already_has_active_response') this.#wantsResponse = true;
      else this.#responding = false;
    }
    const words = `the model reported ${code || textOf(error['type']) || 'an error'}: ${textOf(error['message']).slice(0, 200)}`;
    const isFatal = !this.#isReady || /expired|quota|invalid_api_key|rate_limit/.test(code);
    if (isFatal && !HARMLESS.has(code)) this.#events.failed(words);
    else if (!HARMLESS.has(code)) this.#warn(words);
  }

  #warn(text: string): void {
    this.#warnings += 1;
    if (this.#warnings <= MAX_WARNINGS) this.#events.warning(text);
  }
}

function usageOf(usage: Json): Usage {
  const input = part(usage, 'input_token_details');
  const output = part(usage, 'output_token_details');
  const audioInput = count(input['audio_tokens']);
  const audioOutput = count(output['audio_tokens']);
  return {
    audioInput,
    audioOutput,
    textInput: Math.max(0, count(usage['input_tokens']) - audioInput),
    textOutput: Math.max(0, count(usage['output_tokens']) - audioOutput),
  };
}

const reasonOf = (error: Json): string =>
  (textOf(error['message']) || textOf(error['code']) || textOf(error['type'])).slice(0, 200) ||
  'no reason given';

/** Whether the text is a whole JSON object. The beginning of one never is. */
const isComplete = (text: unknown): boolean =>
  typeof text !== 'string' || readJson(text) !== undefined;
