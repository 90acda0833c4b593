/** Operator access to running calls of all accounts. */
import type { Readable } from 'node:stream';
import type { CallUuid } from '../../base/ids.ts';
import type { CallLogEntry, QualitySample } from '../../domain/call/types.ts';
import type { MediaQuality } from '../../domain/cdr/types.ts';
import type { LiveCall } from '../../domain/dispatch/types.ts';

/** A SIP message of a call as transmitted, with credentials masked. */
export interface SipMessageTrace {
  readonly atUs: number;
  readonly direction: 'in' | 'out';
  readonly transport: string;
  readonly local: string;
  readonly remote: string;
  /** SIP Call-ID of the leg. */
  readonly callId: string;
  readonly text: string;
}

/** Forms of recorded SIP messages: records, a ladder diagram as text, and a pcap file. */
export interface MessageForms {
  readonly json: readonly SipMessageTrace[];
  readonly text: string;
  readonly pcap: Uint8Array;
}

interface CallDetail {
  readonly call: LiveCall | undefined;
  readonly log: readonly CallLogEntry[];
}

export interface LiveQuality {
  readonly call: LiveCall;
  readonly quality: MediaQuality;
}

/** Checks every few seconds during a stream whether the client is still authorized. */
export type StillAllowed = () => Promise<boolean>;

/** Live audio and streams of answered calls on every node. `busy`: too many listeners. The streams end with the call. */
export interface CallListeningAccess {
  /** Returns an endless 16 kHz stereo WAV file. Left: audio from the peer. Right: audio sent to the peer. */
  listen(callUuid: CallUuid, isAllowed: StillAllowed): Promise<Readable | 'unknown' | 'busy'>;
  /**
   * Returns server-sent events: `message` for messages of the call's bots, and `levels` of both directions five times a
   * second.
   */
  watchStreams(callUuid: CallUuid, isAllowed: StillAllowed): Promise<Readable | 'unknown' | 'busy'>;
  stop(): void;
}

/** Running calls on every node. If a node does not answer in time, operations reject with NODE_UNREACHABLE. */
export interface LiveCalls {
  list(): Promise<readonly LiveCall[]>;
  /** Returns a running call with its timeline, also for a while after its end, or undefined if the call is unknown. */
  get(callUuid: CallUuid): Promise<CallDetail | undefined>;
  /** Returns the current quality of an answered call, or undefined if the call does not exist. */
  quality(callUuid: CallUuid): Promise<LiveQuality | undefined>;
  /** Returns the mean opinion scores of the answered calls that have one, in any order. */
  scores(callUuids: readonly CallUuid[]): Promise<readonly (readonly [CallUuid, number])[]>;
  /** Ends a call; returns false if the call does not exist. */
  hangup(callUuid: CallUuid): Promise<boolean>;
  /** Returns the messages of all related legs, oldest first, or undefined if the call is unknown. */
  messages<Form extends keyof MessageForms>(
    callUuid: CallUuid,
    form: Form,
  ): Promise<MessageForms[Form] | undefined>;
  /** Returns the samples oldest first, also for a while after the call's end, or undefined if the call is unknown. */
  qualitySamples(callUuid: CallUuid): Promise<readonly QualitySample[] | undefined>;
}
