/** Gemini Live (BidiGenerateContent) over WebSocket. Input is L16 at 16 kHz, output L16 at the rate of its MIME type. */
import type { ModelSettings } from '../agent-file.ts';
import { declaration } from './gemini-schema.ts';
import { count, isPcm, type Json, JsonSocket, list, part, textOf } from './json-socket.ts';
import type { Model, ModelEvents, ModelOptions, Speaker, ToolCall } from './model.ts';

const URL_OF_VENDOR =
  'wss://generativelanguage.googleapis.com/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent';
const DEFAULT_MODEL = 'gemini-2.5-flash-native-audio-latest';
const INPUT_TYPE = 'audio/pcm;rate=16000';
const MAX_WARNINGS = 20;
/** Maximum length of a transcript that arrives in pieces. */
const MAX_TRANSCRIPT = 4000;

/** Connections of one session, at most. The vendor ends each after about 10 minutes. */
const MAX_CONNECTIONS = 100;
/** Messages that wait for the setup of a connection, at most. */
const MAX_WAITING = 100;
/** Reasons of a completed turn that need no remark in the call record. */
const USUAL_REASONS = new Set(['', 'TURN_COMPLETE_REASON_UNSPECIFIED', 'NEED_MORE_INPUT']);

export class GeminiLive implements Model {
  readonly input = 'audio/x-l16;rate=16000';
  readonly #settings: ModelSettings;
  readonly #options: ModelOptions;
  readonly #events: ModelEvents;
  #socket: JsonSocket;
  #connections = 0;
  #turn = 1;
  #spoken: Record<Speaker, string> = { caller: '', bot: '' };
  #warnings = 0;
  /** The vendor has confirmed the setup of the current connection. */
  #isReady = false;
  #wasReady = false;
  /** The model is generating a response. */
  #isGenerating = false;
  /** The caller interrupted the current turn, whose end does not answer the caller. */
  #isInterrupted = false;
  /** The end of the current response was reported. */
  #hasResponded = false;
  /** Name of the session's last state that the vendor can resume. */
  #handle: string | undefined;
  /** The vendor will close the connection soon. */
  #isLeaving = false;
  #isClosed = false;
  /** Messages for the vendor until it has confirmed the setup of the current connection. */
  readonly #waiting: Json[] = [];
  #cancelSetup: () => void = () => undefined;

  constructor(settings: ModelSettings, options: ModelOptions, events: ModelEvents) {
    this.#settings = settings;
    this.#options = options;
    this.#events = events;
    this.#socket = this.#connect();
  }

  hear(payload: string): void {
    // The vendor accepts no input before it has confirmed the setup.
    if (!this.#isReady) return;
    this.#socket.send({ realtimeInput: { audio: { data: payload, mimeType: INPUT_TYPE } } });
  }

  greet(text: string): void {
    this.notify(`Greet the caller. Say exactly this, and nothing else: ${text}`);
  }

  /** `clientContent` is only for the history before the conversation in the later models. */
  notify(text: string): void {
    this.#tell({ realtimeInput: { text } });
  }

  /** The vendor detects interruptions from the audio and truncates its own turn. */
  interrupted(): void {}

  toolResult({ id, name }: ToolCall, result: string): void {
    const response = { result };
    this.#tell({ toolResponse: { functionResponses: [{ id, name, response }] } });
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelSetup();
    this.#socket.close();
  }

  /** Sends a message as soon as the vendor accepts it: while a session is resumed, the message waits. */
  #tell(message: Json): void {
    if (this.#isReady) this.#socket.send(message);
    else if (this.#waiting.length < MAX_WAITING) this.#waiting.push(message);
  }

  #connect(): JsonSocket {
    const { url = URL_OF_VENDOR, apiKey } = this.#settings;
    const { connectMs, clock, network } = this.#options;
    const setup = setupOf(this.#settings, this.#options, this.#handle);
    this.#connections += 1;
    const socket = new JsonSocket(
      {
        url: new URL(url).href,
        // The key is a header, so that it appears in no URL of an error message.
        headers: { ...(apiKey && { 'x-goog-api-key': apiKey }) },
        connectMs,
        clock,
        network,
      },
      {
        opened: () => socket.sendFirst({ setup }),
        message: (message) => this.#read(message),
        malformed: (why) => this.#warn(why),
        lost: (cause) => {
          if (!this.#resume()) this.#fail(`the model ${cause}`);
        },
      },
    );
    return socket;
  }

  /** Continues the session over a new connection. Returns false if the vendor has named no state to resume. */
  #resume(): boolean {
    if (this.#handle === undefined || !this.#isReady || this.#isClosed) return false;
    if (this.#connections >= MAX_CONNECTIONS) return false;
    const { connectMs, clock } = this.#options;
    this.#isReady = false;
    this.#isLeaving = false;
    this.#isGenerating = false;
    this.#socket.close();
    this.#socket = this.#connect();
    this.#handle = undefined;
    this.#cancelSetup = clock.at(clock.monotonicMs() + connectMs, () =>
      this.#fail('the model did not resume the session in time'),
    );
    return true;
  }

  #fail(cause: string): void {
    this.close();
    this.#events.failed(cause);
  }

  #read(message: Json): void {
    if ('setupComplete' in message) this.#ready();
    if ('sessionResumptionUpdate' in message) {
      const { newHandle, resumable } = part(message, 'sessionResumptionUpdate');
      const handle = textOf(newHandle);
      this.#handle = resumable === true && handle !== '' ? handle : undefined;
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
      this.#isLeaving = true;
    }
    if ('error' in message) {
      const { message: why } = part(message, 'error');
      this.#fail(`the model reported an error: ${textOf(why).slice(0, 200)}`);
    }
    // The words of a response end before the connection changes.
    if (this.#isLeaving && !this.#isGenerating) this.#resume();
  }

  #ready(): void {
    this.#isReady = true;
    this.#cancelSetup();
    for (const message of this.#waiting.splice(0)) this.#socket.send(message);
    if (!this.#wasReady) this.#events.ready();
    this.#wasReady = true;
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
      this.#isInterrupted = true;
    } else this.#audio(part(content, 'modelTurn'));
    if (content['generationComplete'] === true) this.#responded();
    // The vendor expects the caller to continue, so that no response follows.
    if (content['waitingForInput'] === true) this.#events.responded();
    if (content['turnComplete'] === true) this.#turnComplete(textOf(content['turnCompleteReason']));
  }

  #audio(turn: Json): void {
    for (const piece of list(turn['parts'])) {
      const { data, mimeType } = part(piece, 'inlineData');
      if (data === undefined) continue;
      const rate = rateOf(mimeType);
      if (rate === undefined || !isPcm(data)) this.#warn('an audio event is malformed');
      else {
        this.#isGenerating = true;
        this.#hasResponded = false;
        this.#isInterrupted = false;
        this.#events.audio({ item: `turn-${this.#turn}`, payload: data, rate });
      }
    }
  }

  #turnComplete(reason: string): void {
    if (!USUAL_REASONS.has(reason)) this.#warn(`a response ended with ${reason.slice(0, 100)}`);
    this.#responded();
    this.#endTurn();
    this.#isInterrupted = false;
  }

  /** Reports the end of a response once: its generation ends before the vendor expects its playback to end. */
  #responded(): void {
    this.#isGenerating = false;
    if (this.#hasResponded || this.#isInterrupted) return;
    this.#hasResponded = true;
    this.#events.responded();
  }

  #endTurn(): void {
    for (const who of ['caller', 'bot'] as const) this.#flush(who);
    this.#turn += 1;
    this.#isGenerating = false;
    this.#hasResponded = false;
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
    const input = count(usage['promptTokenCount']) + count(usage['toolUsePromptTokenCount']);
    const output = count(usage['responseTokenCount']) + count(usage['thoughtsTokenCount']);
    this.#events.used({
      audioInput,
      audioOutput,
      textInput: Math.max(0, input - audioInput),
      textOutput: Math.max(0, output - audioOutput),
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
  handle: string | undefined,
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
    ...(tools.length > 0 && { tools: [{ functionDeclarations: tools.map(declaration) }] }),
    ...(!interruptible && {
      realtimeInputConfig: { activityHandling: 'NO_INTERRUPTION' },
    }),
    inputAudioTranscription: {},
    outputAudioTranscription: {},
    // Without these, the vendor ends a connection after about 10 minutes and a session after 15.
    sessionResumption: { ...(handle !== undefined && { handle }) },
    contextWindowCompression: { slidingWindow: {} },
  };
}

function rateOf(mimeType: unknown): 8000 | 16000 | 24000 | undefined {
  if (typeof mimeType !== 'string' || !mimeType.startsWith('audio/pcm')) return undefined;
  const rate = Number(/rate=(\d+)/.exec(mimeType)?.[1] ?? 24_000);
  return rate === 8000 || rate === 16_000 || rate === 24_000 ? rate : undefined;
}
