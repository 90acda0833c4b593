import type { Synthesizer } from '../../domain/call/needs.ts';

export interface SpeechService extends Synthesizer {
  /** Runs every engine once, so that the first words of a caller find them in memory. Never rejects. */
  warm(): Promise<void>;
  /** Engines found, in order of preference; none: every request is `unavailable`. */
  readonly engines: readonly string[];
}
