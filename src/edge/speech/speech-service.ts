import type { Synthesizer } from '../../domain/call/needs.ts';

export interface SpeechService extends Synthesizer {
  /** Runs every engine once, to load it before the first caller. Never rejects. */
  warm(): Promise<void>;
  /** Installed engines in order of preference. If empty, every request is `unavailable`. */
  readonly engines: readonly string[];
}
