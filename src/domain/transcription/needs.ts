import type { RecordingId } from '../../base/ids.ts';
import type { StoredNotification } from '../callback/types.ts';
import type { Transcription, TranscriptionPatch } from './types.ts';

export interface TranscriptionStore {
  insert(transcription: Transcription): Promise<void>;
  /** Once: the end, and what there is to tell of it, in one unit of work. Undefined: it is gone, or had ended. */
  finish(
    transcriptionId: string,
    end: TranscriptionPatch,
    notification: StoredNotification | undefined,
  ): Promise<Transcription | undefined>;
  get(transcriptionId: string): Promise<Transcription | undefined>;
  /** Of one recording, the latest first. */
  ofRecording(recordingId: RecordingId): Promise<readonly Transcription[]>;
  /** Takes up those that earlier lives of this node left neither ready nor failed; oldest first. */
  adopt(): Promise<readonly Transcription[]>;
}

/** The files of recordings, wherever they are kept. */
export interface RecordingReader {
  /** Undefined: there is none, or it has more than `maxBytes`. */
  read(file: string, maxBytes: number): Promise<Uint8Array | undefined>;
}
