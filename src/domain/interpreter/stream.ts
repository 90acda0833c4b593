/** An audio stream of a call: what was asked for, how it is while it lives, and how it ends. */
import type { StreamId } from '../../base/ids.ts';
import type { StreamInstruction } from '../../protocol/answer-xml/answer-xml.ts';
import type { CallbackTarget } from '../callback/types.ts';

/** As a document asks for it, with its callback in our words; over REST without a document. */
export interface AudioStreamRequest
  extends Omit<
    StreamInstruction,
    'kind' | 'line' | 'warnings' | 'name' | 'statusCallbackUrl' | 'statusCallbackMethod'
  > {
  readonly statusCallback: CallbackTarget | undefined;
}

/** Why a stream came to its end, once. */
export type AudioStreamEnd =
  | { readonly kind: 'stopRequested' | 'timeout' | 'apiRequest' | 'callEnded' | 'transferred' }
  | { readonly kind: 'dropped'; readonly detail: string };

/** Ends that are not the bot's doing. */
export type StopKind = Exclude<AudioStreamEnd['kind'], 'dropped' | 'stopRequested'>;

export interface LiveAudioStream {
  /** Of the connection that is open or being made: what the bot and the last callback were told. */
  readonly streamId: StreamId;
  /** Whether this is the id of one of its connections; a reconnect has a new one. */
  isCalled(streamId: StreamId): boolean;
  readonly request: AudioStreamRequest;
  readonly startUs: number;
  readonly connected: boolean;
  readonly ended: Promise<AudioStreamEnd>;
  /** With `drain`, once the audio that the bot has queued was played. */
  stop(kind: StopKind, options?: { readonly drain: boolean }): void;
}

export type FailedAudioStream = Pick<LiveAudioStream, 'streamId' | 'request' | 'startUs'> & {
  readonly endUs: number;
};
