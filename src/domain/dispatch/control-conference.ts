/** Conferences and multi-party calls as a REST client sees them, and what it may do to one. */
import type { CallUuid } from '../../base/ids.ts';
import type { CallDirection } from '../cdr/types.ts';

export interface ConferenceMember {
  /** Small decimal number, unique in its conference. */
  readonly memberId: string;
  readonly callUuid: CallUuid;
  readonly from: string;
  readonly to: string;
  readonly callerName: string;
  readonly direction: CallDirection;
  readonly muted: boolean;
  readonly deaf: boolean;
  /** How long it has been in the room. */
  readonly inRoomMs: number;
  /** Of a multi-party call. */
  readonly party?: {
    readonly role: 'agent' | 'supervisor' | 'customer';
    readonly onHold: boolean;
    readonly coaching: boolean;
    readonly recording: RecordingState;
    readonly joinedUs: number;
    readonly startsOnEnter: boolean;
    readonly endsOnExit: boolean;
    /** Set once it has left. */
    readonly leftUs?: number;
    readonly leftBecause?: string;
  };
}
type RecordingState = 'not-recording' | 'recording' | 'paused';
/** Why a multi-party call has ended. */
export type PartyEndCause = 'empty' | 'alone' | 'maxDuration' | 'api';

export interface Conference {
  readonly uuid: string;
  readonly name: string;
  readonly runningMs: number;
  /** Its members hear each other. */
  readonly hasBegun?: boolean;
  readonly members: readonly ConferenceMember[];
  /** Of a multi-party call. */
  readonly party?: {
    readonly createdUs: number;
    readonly startedUs: number | undefined;
    readonly recording: RecordingState;
    /** Who has left it, the latest first. */
    readonly former: readonly ConferenceMember[];
    /** Set once it has ended. */
    readonly endedUs?: number;
    readonly cause?: PartyEndCause;
  };
}

/** What is done to a multi-party call; `member`: an id, or a call's UUID. */
export type PartyAction =
  | { readonly kind: 'begin' }
  | { readonly kind: 'end' }
  /** Without `member` the recording of the whole call. */
  | {
      readonly kind: 'stopRecording' | 'pauseRecording' | 'resumeRecording';
      readonly member?: string;
    }
  | { readonly kind: 'kick' | 'silence'; readonly member: string }
  | { readonly kind: 'play'; readonly member: string; readonly url: string }
  | {
      readonly kind: 'member';
      readonly member: string;
      readonly change: {
        readonly mute?: boolean | undefined;
        readonly hold?: boolean | undefined;
        readonly coachMode?: boolean | undefined;
      };
    };

/** One member, several, or all of them. */
export type MemberChoice = readonly string[] | 'all';

export type MemberAction =
  | { readonly kind: 'mute' | 'unmute' | 'deaf' | 'undeaf' }
  /** `kick`: out of the room, its document goes on; `hangup`: its call ends. */
  | { readonly kind: 'kick' | 'hangup' }
  | { readonly kind: 'play'; readonly url: string }
  | { readonly kind: 'stopPlay' }
  | {
      readonly kind: 'speak';
      readonly text: string;
      readonly voice: string;
      readonly language: string;
    }
  | { readonly kind: 'stopSpeak' };
