import { err, type Result } from '../../../base/result.ts';
import type {
  InterimTranscript,
  RecognitionProblem,
  RecognitionProblemKind,
  RecognitionRequest,
  Transcript,
} from '../../../domain/call/needs.ts';

/** Of all audio that is recognised, Hz: mono, 16 bit little-endian. */
export const RATE = 16_000;
const BYTES_PER_MS = (RATE * 2) / 1000;

export const lengthMs = (pcm: { readonly length: number }): number =>
  Math.round(pcm.length / BYTES_PER_MS);

export type Recognised = Result<Transcript, RecognitionProblem>;

/** One piece of speech on its way to a recogniser. */
export interface RecognitionSession {
  audio(pcm: Uint8Array): void;
  /** No more comes: the words. Never rejects. Once. */
  finish(): Promise<Recognised>;
  /** Nobody waits for the words any more. */
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

/** `Error: connect ECONNREFUSED …` and the like, without addresses. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it failed';
  if (error.name === 'TimeoutError') return 'it took too long';
  const { cause } = error;
  const code = cause instanceof Error && 'code' in cause ? cause.code : Reflect.get(error, 'code');
  return typeof code === 'string' ? `no connection (${code})` : 'it failed';
}
