/** What the interpreter asks of the rooms around it. */
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { DialInstruction } from '../../protocol/answer-xml/answer-xml.ts';
import type { Call } from '../call/call.ts';
import type { AudioLibrary, AudioStreams, Media, Synthesizer } from '../call/needs.ts';
import type { CallbackClient } from '../callback/callback.ts';
import type { Conferences } from './conference/conferences.ts';
import type { CallRecorder } from './recorder.ts';

/** Keeps the stored record and the reservation of a live call true. */
export interface CallKeeping {
  /** Something that is billed or shown has changed; durable when it resolves. */
  changed(call: Call): Promise<void>;
}

/** One B leg that `Dial` asked for. */
export interface BLegRequest {
  readonly parent: Call;
  /** As written in the document: digits, or a `sip:` URI. */
  readonly destination: DialInstruction['destinations'][number];
  /** Number or `sip:` user to present; undefined: derived from the A leg. */
  readonly callerId: string | undefined;
  readonly callerName: string | undefined;
  readonly sipHeaders: ReadonlyArray<readonly [name: string, value: string]>;
  readonly onLeg?: (leg: Call) => void;
}

/** Makes B legs: admission, caller id rules, routing, records. Implemented by dispatch. */
export interface Dialer {
  /**
   * The B leg, on its way (its ports open, its INVITE sent), or undefined when it was refused before it came into
   * being: the reason stands in the parent's log. Its end comes through `Call.ended`.
   */
  dial(request: BLegRequest): Promise<Call | undefined>;
}

export interface InterpreterSettings {
  readonly allowInsecureStreams: boolean;
  /** Documents that one call may fetch within a minute. */
  readonly redirectsPerMinute: number;
  readonly ringTimeoutMs: number;
  readonly streamQueueMs: number;
  /** Told where the platform itself ended a leg (DialBLegHangupSource). */
  readonly platformName: string;
}

export interface InterpreterNeeds {
  readonly callbacks: CallbackClient;
  readonly streams: AudioStreams;
  readonly media: Media;
  readonly audio: AudioLibrary;
  readonly speech: Synthesizer;
  readonly recorder: CallRecorder;
  readonly conferences: Conferences;
  readonly dialer: Dialer;
  readonly keeping: CallKeeping;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly settings: InterpreterSettings;
}
