/** Interface between a call and the model that answers it. */
import type { Clock } from '../../base/clock.ts';
import type { AgentNetwork } from '../network.ts';

export type Speaker = 'caller' | 'bot';

/** Usage of one response or minute, for cost limits. */
export interface Usage {
  readonly audioInput: number;
  readonly audioOutput: number;
  readonly textInput: number;
  readonly textOutput: number;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** Arguments as JSON text, as the model wrote them. */
  readonly arguments: string;
}

/** Audio of the model: signed 16-bit little-endian mono, base64. */
export interface ModelAudio {
  /** ID of the response item that the audio belongs to. */
  readonly item: string;
  readonly payload: string;
  readonly rate: 8000 | 16000 | 24000;
}

/** Events of a model. None follows `failed` or `close`. */
export interface ModelEvents {
  /** The model is connected and configured. */
  ready(): void;
  audio(audio: ModelAudio): void;
  /** The caller began to speak, as detected by the model. */
  callerSpeaks(): void;
  /** The caller has finished a turn; a response must follow. */
  callerFinished(): void;
  said(who: Speaker, text: string): void;
  tool(call: ToolCall): void;
  /** The model no longer needs the results of these calls. */
  toolsCancelled(ids: readonly string[]): void;
  /** A response is complete. */
  responded(): void;
  used(usage: Usage): void;
  /** A fault that does not end the conversation, such as one malformed event. */
  warning(text: string): void;
  /** The model cannot continue. Reported once. */
  failed(cause: string): void;
}

export interface Model {
  /** Format of the caller's audio: `contentType` of the stream. */
  readonly input: 'audio/x-mulaw;rate=8000' | 'audio/x-l16;rate=16000';
  /** Sends 20 ms of the caller's audio, base64. */
  hear(payload: string): void;
  /** Says this text as the first utterance. */
  greet(text: string): void;
  /** Reports that the caller interrupted an item after `playedMs` of its audio. */
  interrupted(item: string, playedMs: number): void;
  /** Reports an event of the call as text, for example pressed keys, and requests a response. */
  notify(text: string): void;
  /** Returns the result of a tool call. */
  toolResult(call: ToolCall, result: string): void;
  close(): void;
}

export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  /** JSON schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ModelOptions {
  readonly instructions: string;
  readonly tools: readonly ToolDescription[];
  readonly connectMs: number;
  readonly clock: Clock;
  readonly network: AgentNetwork;
  /** Whether the caller's speech interrupts the model. */
  readonly interruptible: boolean;
}
