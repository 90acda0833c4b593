/** What the operator sees and does with calls, across all accounts. */
import type { Readable } from 'node:stream';
import type { CallUuid } from '../../base/ids.ts';
import type { CallLogEntry, QualitySample } from '../../domain/call/types.ts';
import type { MediaQuality } from '../../domain/cdr/types.ts';
import type { LiveCall } from '../../domain/dispatch/types.ts';

/** One SIP message of a call, as it went over the wire; credentials are already masked. */
export interface SipMessageTrace {
  readonly atUs: number;
  readonly direction: 'in' | 'out';
  readonly transport: string;
  readonly local: string;
  readonly remote: string;
  /** Of the leg. */
  readonly callId: string;
  readonly text: string;
}

/** SIP messages as they are kept, as a ladder for people, as a pcap file. */
export interface MessageForms {
  readonly json: readonly SipMessageTrace[];
  readonly text: string;
  readonly pcap: Uint8Array;
}

export interface CallDetail {
  readonly call: LiveCall | undefined;
  readonly log: readonly CallLogEntry[];
}

export interface LiveQuality {
  readonly call: LiveCall;
  readonly quality: MediaQuality;
}

/** Asked every few seconds while something is told. */
export type StillAllowed = () => Promise<boolean>;

/** Answered calls of every node, for somebody who listens or looks; `busy`: too many do. The streams end with the call. */
export interface Overhearing {
  /** A WAV file without end of 16 kHz: left what the peer says, right what it hears. */
  listen(callUuid: CallUuid, isAllowed: StillAllowed): Promise<Readable | 'unknown' | 'busy'>;
  /** Server-sent events: `message` of the call's bots, and `levels` of both directions five times a second. */
  watchStreams(callUuid: CallUuid, isAllowed: StillAllowed): Promise<Readable | 'unknown' | 'busy'>;
  stop(): void;
}

/** Of every node; whoever cannot be asked in time makes an operation reject with NODE_UNREACHABLE. */
export interface LiveCalls {
  list(): Promise<readonly LiveCall[]>;
  /** The call while it lives and its timeline, also for a while after its end; undefined when neither is known. */
  get(callUuid: CallUuid): Promise<CallDetail | undefined>;
  /** How an answered call sounds now; undefined: there is no such call. */
  quality(callUuid: CallUuid): Promise<LiveQuality | undefined>;
  /** The mean opinion score of those that are answered and have one, in any order. */
  scores(callUuids: readonly CallUuid[]): Promise<readonly (readonly [CallUuid, number])[]>;
  /** False when there is no such call. */
  hangup(callUuid: CallUuid): Promise<boolean>;
  /** Those of all legs that belong together with the call's, oldest first; undefined: nothing is known of it. */
  messages<Form extends keyof MessageForms>(
    callUuid: CallUuid,
    form: Form,
  ): Promise<MessageForms[Form] | undefined>;
  /** Oldest first, also for a while after the call's end; undefined: no such call is known. */
  qualitySamples(callUuid: CallUuid): Promise<readonly QualitySample[] | undefined>;
}
