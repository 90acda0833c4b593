/** What the operator sees and does with calls, across all accounts. */
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

/** Each made when it is asked for. */
export interface CallMessages {
  list(): readonly SipMessageTrace[];
  /** For people. */
  ladder(): string;
  /** A pcap file. */
  capture(): Buffer;
}

export interface CallDetail {
  readonly call: LiveCall | undefined;
  readonly log: readonly CallLogEntry[];
}

export interface LiveQuality {
  readonly call: LiveCall;
  readonly quality: MediaQuality;
}

export interface LiveCalls {
  list(): readonly LiveCall[];
  /** The call while it lives and its timeline, also for a while after its end; undefined when neither is known. */
  get(callUuid: CallUuid): CallDetail | undefined;
  /** How an answered call sounds now; undefined: there is no such call. */
  quality(callUuid: CallUuid): LiveQuality | undefined;
  /** False when there is no such call. */
  hangup(callUuid: CallUuid): boolean;
  /** Those of all legs that belong together with the call's, oldest first; undefined: nothing is known of it. */
  messages(callUuid: CallUuid): CallMessages | undefined;
  /** Oldest first, also for a while after the call's end; undefined: no such call is known. */
  qualitySamples(callUuid: CallUuid): readonly QualitySample[] | undefined;
}
