/** Interface of the recognizers of a pipeline. */
import type { Clock } from '../../base/clock.ts';
import type { AgentNetwork } from '../network.ts';

export interface RecognizerEvents {
  ready(): void;
  /** The caller began to speak. May repeat within one turn. */
  began(): void;
  /** The caller finished a turn with these words. */
  turn(text: string): void;
  /** The sound that began had no words. */
  silent(): void;
  warning(text: string): void;
  failed(cause: string): void;
}

export interface Recognizer {
  /** Processes signed 16-bit little-endian mono samples at 16 kHz. */
  hear(pcm: Buffer): void;
  close(): void;
}

export interface Connection {
  readonly connectMs: number;
  readonly clock: Clock;
  readonly network: AgentNetwork;
}

/** Maximum length of the words of one turn. */
export const MAX_TURN = 4000;
