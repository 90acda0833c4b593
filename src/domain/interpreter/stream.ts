/** Audio stream of a call: its request, its state and its end. */
import type { StreamId } from '../../base/ids.ts';
import type { StreamInstruction } from '../../protocol/answer-xml/answer-xml.ts';
import type { StreamTransfer, TransferProgress } from '../call/needs.ts';
import type { CallbackTarget } from '../callback/types.ts';

/** Stream request from a document, with a normalized callback, or from the REST API. */
export interface AudioStreamRequest
  extends Omit<
    StreamInstruction,
    | 'kind'
    | 'line'
    | 'warnings'
    | 'name'
    | 'disclosure'
    | 'statusCallbackUrl'
    | 'statusCallbackMethod'
  > {
  readonly statusCallback: CallbackTarget | undefined;
  /** Failed transfer after which the stream opens again; the bot is informed first. */
  readonly failedTransfer?: TransferProgress;
}

/** End of a stream. */
export type AudioStreamEnd =
  | { readonly kind: 'stopRequested' | 'timeout' | 'apiRequest' | 'callEnded' | 'transferred' }
  | { readonly kind: 'dropped'; readonly detail: string };

/** Ends that the bot did not cause. */
export type StopKind = Exclude<AudioStreamEnd['kind'], 'dropped' | 'stopRequested'>;

export interface TransferHandler {
  begin(transfer: StreamTransfer): void;
  cancel(): void;
}

export interface LiveAudioStream {
  /** Stream ID of the current connection, as reported to the bot and the last callback. */
  readonly streamId: StreamId;
  /** True if this is the ID of one of the stream's connections; each reconnect has a new ID. */
  isCalled(streamId: StreamId): boolean;
  readonly request: AudioStreamRequest;
  readonly startUs: number;
  readonly connected: boolean;
  readonly ended: Promise<AudioStreamEnd>;
  /** Sets the handler of transfers that the bot requests or cancels. */
  onTransfer(handler: TransferHandler): void;
  /** Reports the progress of a transfer to a bot that may transfer. */
  transferProgress(progress: TransferProgress): void;
  /** Stops the stream. With `drain`, queued audio from the bot is played first. */
  stop(kind: StopKind, options?: { readonly drain: boolean }): void;
}

export type FailedAudioStream = Pick<LiveAudioStream, 'streamId' | 'request' | 'startUs'> & {
  readonly endUs: number;
};
