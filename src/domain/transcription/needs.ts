import type { RecordingId } from '../../base/ids.ts';
import type { StoredNotification } from '../callback/types.ts';
import type { Transcription, TranscriptionPatch } from './types.ts';

export interface TranscriptionStore {
  insert(transcription: Transcription): Promise<void>;
  /**
   * Stores the end of a transcription and its notification once, in one transaction. Returns undefined if it was
   * deleted or had ended.
   */
  finish(
    transcriptionId: string,
    end: TranscriptionPatch,
    notification: StoredNotification | undefined,
  ): Promise<Transcription | undefined>;
  get(transcriptionId: string): Promise<Transcription | undefined>;
  /** Returns the transcriptions of one recording, latest first. */
  ofRecording(recordingId: RecordingId): Promise<readonly Transcription[]>;
  /** Adopts and returns transcriptions that earlier epochs of this node left unfinished, oldest first. */
  adopt(): Promise<readonly Transcription[]>;
}

/** Reads the files of recordings from local or remote storage. */
export interface RecordingReader {
  /** Returns the file, or undefined if it does not exist or exceeds `maxBytes`. */
  read(file: string, maxBytes: number): Promise<Uint8Array | undefined>;
}
