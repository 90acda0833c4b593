import { err, type Result } from '../../../base/result.ts';
import type {
  InterimTranscript,
  RecognitionProblem,
  RecognitionProblemKind,
  RecognitionRequest,
  Transcript,
} from '../../../domain/call/needs.ts';

/** Sample rate of all recognized audio, Hz: mono, 16-bit little-endian. */
export const RATE = 16_000;
const BYTES_PER_MS = (RATE * 2) / 1000;

export const lengthMs = (pcm: { readonly length: number }): number =>
  Math.round(pcm.length / BYTES_PER_MS);

export type Recognised = Result<Transcript, RecognitionProblem>;

/** One utterance in recognition. */
export interface RecognitionSession {
  audio(pcm: Uint8Array): void;
  /** Adds a piece of a recording. Resolves when the next piece can be added. Never rejects. */
  recorded(pcm: Uint8Array): Promise<void>;
  /** Ends the audio and resolves with the words. Call it once. Never rejects. */
  finish(): Promise<Recognised>;
  /** Cancels the recognition. */
  abort(): void;
}

export interface RecognitionEngine {
  readonly name: string;
  understands(language: string): boolean;
  open(
    request: RecognitionRequest,
    interim: ((words: InterimTranscript) => void) | undefined,
  ): RecognitionSession;
}

export const problem = (
  kind: RecognitionProblemKind,
  detail: string,
): { readonly ok: false; readonly error: RecognitionProblem } => err({ kind, detail });

/** Short error text such as `Error: connect ECONNREFUSED …`, without addresses. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it failed';
  if (error.name === 'TimeoutError') return 'the request timed out';
  const { cause } = error;
  const code = cause instanceof Error && 'code' in cause ? cause.code : Reflect.get(error, 'code');
  return typeof code === 'string' ? `no connection (${code})` : 'it failed';
}
