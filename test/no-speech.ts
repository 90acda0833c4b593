/** Speech recognition that is unavailable and transcriptions that do nothing, for tests of other features. */
import { err, ok } from '../src/base/result.ts';
import type { Recognizer } from '../src/domain/call/needs.ts';
import type { Transcriptions } from '../src/domain/transcription/transcription.ts';

const unavailable = err({ kind: 'unavailable', detail: 'not in this test' } as const);

const NO_RECOGNIZER: Recognizer = {
  listen: () => ({ received: Promise.resolve(unavailable), stop: () => undefined }),
  transcribe: () => Promise.resolve(unavailable),
};

export const NO_TRANSCRIPTIONS = {
  begin: () => Promise.resolve(),
  filed: () => Promise.resolve(),
  recover: () => Promise.resolve(),
  idle: () => Promise.resolve(),
  get: () => Promise.resolve(err({ kind: 'unknownTranscription' })),
  ofRecording: () => Promise.resolve([]),
  meter: () => Promise.resolve(ok(undefined)),
} as unknown as Transcriptions;

export const NO_SPEECH = { recognizer: NO_RECOGNIZER, transcriptions: NO_TRANSCRIPTIONS };
