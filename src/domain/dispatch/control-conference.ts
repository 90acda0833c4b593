/** Conferences and multi-party calls in the REST API, and the actions on them. */
import type { CallUuid } from '../../base/ids.ts';
import type { CallDirection } from '../cdr/types.ts';

export interface ConferenceMember {
  /** Member ID: a small decimal number, unique in the conference. */
  readonly memberId: string;
  readonly callUuid: CallUuid;
  readonly from: string;
  readonly to: string;
  readonly callerName: string;
  readonly direction: CallDirection;
  readonly muted: boolean;
  readonly deaf: boolean;
  /** Time since joining, in ms. */
  readonly inRoomMs: number;
  /** State in a multi-party call; absent for conferences. */
  readonly party?: {
    readonly role: 'agent' | 'supervisor' | 'customer';
    readonly onHold: boolean;
    readonly coaching: boolean;
    readonly recording: RecordingState;
    readonly joinedUs: number;
    readonly startsOnEnter: boolean;
    readonly endsOnExit: boolean;
    /** Time of leaving, in µs; set once the member has left. */
    readonly leftUs?: number;
    readonly leftBecause?: string;
  };
}
type RecordingState = 'not-recording' | 'recording' | 'paused';
/** Reason why a multi-party call ended. */
export type PartyEndCause = 'empty' | 'alone' | 'maxDuration' | 'api';

export interface Conference {
  readonly uuid: string;
  readonly name: string;
  readonly runningMs: number;
  /** True once the members hear each other. */
  readonly hasBegun?: boolean;
  readonly members: readonly ConferenceMember[];
  /** State of a multi-party call; absent for conferences. */
  readonly party?: {
    readonly createdUs: number;
    readonly startedUs: number | undefined;
    readonly recording: RecordingState;
    /** Former members, most recent first. */
    readonly former: readonly ConferenceMember[];
    /** End time in µs; set once the multi-party call has ended. */
    readonly endedUs?: number;
    readonly cause?: PartyEndCause;
  };
}

/** Action on a multi-party call. `member`: a member ID or the UUID of its call. */
export type PartyAction =
  | { readonly kind: 'begin' }
  | { readonly kind: 'end' }
  /** Without `member`, affects the recording of the whole multi-party call. */
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

/** IDs of one or more members, or all of them. */
export type MemberChoice = readonly string[] | 'all';

export type MemberAction =
  | { readonly kind: 'mute' | 'unmute' | 'deaf' | 'undeaf' }
  /** `kick` removes the member, and its document continues. `hangup` ends its call. */
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
