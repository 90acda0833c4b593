/** Gemini Live (BidiGenerateContent) over WebSocket. Input is L16 at 16 kHz, output L16 at the rate of its MIME type. */
import type { ModelSettings } from '../agent-file.ts';
import { count, isPcm, type Json, JsonSocket, list, part, textOf } from './json-socket.ts';
import type { Model, ModelEvents, ModelOptions, Speaker, ToolCall } from './model.ts';

const URL_OF_VENDOR =
  'wss://generativelanguage.googleapis.com/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent';
const DEFAULT_MODEL = 'gemini-2.5-flash-native-audio-latest';
const INPUT_TYPE = 'audio/pcm;rate=16000';
const MAX_WARNINGS = 20;
/** Maximum length of a transcript that arrives in pieces. */
const MAX_TRANSCRIPT = 4000;

export class GeminiLive implements Model {
  readonly input = 'audio/x-l16;rate=16000';
  readonly #socket: JsonSocket;
  readonly #events: ModelEvents;
  #turn = 1;
  #spoken: Record<Speaker, string> = { caller: '', bot: '' };
  #warnings = 0;
  #isReady = false;

  constructor(settings: ModelSettings, options: ModelOptions, events: ModelEvents) {
    this.#events = events;
    const url = new URL(settings.url ?? URL_OF_VENDOR);
    this.#socket = new JsonSocket(
      {
        url: url.href,
        // The key is a header, so that it appears in no URL of an error message.
        headers: { ...(settings.apiKey && { 'x-goog-api-key': settings.apiKey }) },
        connectMs: options.connectMs,
        clock: options.clock,
      },
      {
        opened: () => this.#socket.sendFirst({ setup: setupOf(settings, options) }),
        message: (message) => this.#read(message),
        malformed: (why) => this.#warn(why),
        lost: (cause) => events.failed(`the model ${cause}`),
      },
    );
  }

  hear(payload: string): void {
    // The vendor accepts no input before it has confirmed the setup.
    if (!this.#isReady) return;
    this.#socket.send({ realtimeInput: { audio: { data: payload, mimeType: INPUT_TYPE } } });
  }

  greet(text: string): void {
    this.notify(`Greet the caller. Say exactly this, and nothing else: ${text}`);
  }

  notify(text: string): void {
    const parts = [{ text }];
    this.#socket.send({ clientContent: { turns: [{ role: 'user', parts }], turnComplete: true } });
  }

  /** The vendor detects interruptions from the audio and truncates its own turn. */
  interrupted(): void {}

  toolResult({ id, name }: ToolCall, result: string): void {
    const response = { result };
    this.#socket.send({ toolResponse: { functionResponses: [{ id, name, response }] } });
  }

  close(): void {
    this.#socket.close();
  }

  #read(message: Json): void {
    if ('setupComplete' in message) {
      if (!this.#isReady) {
        this.#isReady = true;
        this.#events.ready();
      }
    }
    if ('serverContent' in message) this.#content(part(message, 'serverContent'));
    if ('toolCall' in message) this.#tools(part(message, 'toolCall')['functionCalls']);
    if ('toolCallCancellation' in message) {
      const { ids } = part(message, 'toolCallCancellation');
      this.#events.toolsCancelled(
        Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [],
      );
    }
    if ('usageMetadata' in message) this.#usage(part(message, 'usageMetadata'));
    if ('goAway' in message) {
      const { timeLeft } = part(message, 'goAway');
      this.#warn(`the model will close the connection in ${textOf(timeLeft) || 'a moment'}`);
    }
    if ('error' in message) {
      const { message: why } = part(message, 'error');
      this.#events.failed(`the model reported an error: ${textOf(why).slice(0, 200)}`);
    }
  }

  #content(content: Json): void {
    const heard = part(content, 'inputTranscription')['text'];
    this.#transcribe('caller', heard);
    // The vendor does not report the end of the caller's turn. Each recognized part restarts the wait for a response.
    if (textOf(heard).trim() !== '') this.#events.callerFinished();
    this.#transcribe('bot', part(content, 'outputTranscription')['text']);
    if (content['interrupted'] === true) {
      this.#events.callerSpeaks();
      this.#endTurn();
      return;
    }
    for (const piece of list(part(content, 'modelTurn')['parts'])) {
      const { data, mimeType } = part(piece, 'inlineData');
      if (data === undefined) continue;
      const rate = rateOf(mimeType);
      if (rate === undefined || !isPcm(data)) this.#warn('an audio event is malformed');
      else this.#events.audio({ item: `turn-${this.#turn}`, payload: data, rate });
    }
    if (content['turnComplete'] === true) {
      this.#endTurn();
      this.#events.responded();
    }
  }

  #endTurn(): void {
    for (const who of ['caller', 'bot'] as const) this.#flush(who);
    this.#turn += 1;
  }

  /** Collects a transcript that arrives in pieces. The other side's transcript is complete then. */
  #transcribe(who: Speaker, text: unknown): void {
    if (typeof text !== 'string' || text === '') return;
    this.#flush(who === 'caller' ? 'bot' : 'caller');
    this.#spoken[who] = (this.#spoken[who] + text).slice(0, MAX_TRANSCRIPT);
  }

  #flush(who: Speaker): void {
    const text = this.#spoken[who].trim();
    this.#spoken[who] = '';
    if (text !== '') this.#events.said(who, text);
  }

  #tools(calls: unknown): void {
    for (const { id, name, args } of list(calls)) {
      if (typeof id !== 'string' || typeof name !== 'string')
        this.#warn('a function call is malformed');
      else this.#events.tool({ id, name, arguments: JSON.stringify(args ?? {}) });
    }
  }

  #usage(usage: Json): void {
    const audio = (key: string): number =>
      list(usage[key])
        .filter(({ modality }) => modality === 'AUDIO')
        .reduce((sum, { tokenCount }) => sum + count(tokenCount), 0);
    const audioInput = audio('promptTokensDetails');
    const audioOutput = audio('responseTokensDetails');
    this.#events.used({
      audioInput,
      audioOutput,
      textInput: Math.max(0, count(usage['promptTokenCount']) - audioInput),
      textOutput: Math.max(0, count(usage['responseTokenCount']) - audioOutput),
    });
  }

  #warn(text: string): void {
    this.#warnings += 1;
    if (this.#warnings <= MAX_WARNINGS) this.#events.warning(text);
  }
}

function setupOf(
  settings: ModelSettings,
  { instructions, tools, interruptible }: ModelOptions,
): Json {
  const name = settings.model ?? DEFAULT_MODEL;
  const { voice } = settings;
  return {
    model: name.startsWith('models/') ? name : `models/${name}`,
    generationConfig: {
      responseModalities: ['AUDIO'],
      ...(voice !== undefined && {
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } },
      }),
    },
    systemInstruction: { parts: [{ text: instructions }] },
    ...(tools.length > 0 && { tools: [{ functionDeclarations: tools }] }),
    ...(!interruptible && {
      realtimeInputConfig: { activityHandling: 'NO_INTERRUPTION' },
    }),
    inputAudioTranscription: {},
    outputAudioTranscription: {},
  };
}

function rateOf(mimeType: unknown): 8000 | 16000 | 24000 | undefined {
  if (typeof mimeType !== 'string' || !mimeType.startsWith('audio/pcm')) return undefined;
  const rate = Number(/rate=(\d+)/.exec(mimeType)?.[1] ?? 24_000);
  return rate === 8000 || rate === 16_000 || rate === 24_000 ? rate : undefined;
}
