import type {
  AccountId,
  CallUuid,
  EndpointId,
  RequestUuid,
  StreamId,
  TrunkId,
} from '../../base/ids.ts';
import type { MediaQuality } from '../../base/media-quality.ts';
import type { Micros } from '../../base/money.ts';
import type { OwnerFilter, PartyFilter } from '../../base/page.ts';
import type { CallLogEntry } from '../call/types.ts';

export type { MediaQuality };

export type CallDirection = 'inbound' | 'outbound';
export type HangupDisposition =
  | 'send_bye'
  | 'recv_bye'
  | 'send_cancel'
  | 'recv_cancel'
  | 'send_refuse'
  | 'recv_refuse';

export type StreamTermination =
  | 'API request'
  | 'Call hangup'
  | 'Connection error'
  | 'Stream timeout';

/** Turns of a stream with speech detection. Latencies in ms, from the caller's last speech to the bot's first audio. */
export interface TurnSummary {
  readonly count: number;
  /** Number of times that the caller's speech cleared the bot's audio. */
  readonly interruptions: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
}

export interface StreamCdr {
  readonly streamId: StreamId;
  readonly serviceUrl: string;
  readonly audioTrack: string;
  readonly bidirectional: boolean;
  readonly contentType: string;
  readonly startUs: number;
  readonly endUs: number;
  /** Time for which the stream was connected, without reconnecting periods, in microseconds. */
  readonly connectedUs: number;
  readonly billedMs: number;
  readonly billedAmount: Micros;
  readonly currency: string;
  readonly terminationReason: StreamTermination;
  /** Undefined without speech detection, and for a stream that a crash ended. */
  readonly turns?: TurnSummary | undefined;
  /** Time at which the caller had heard that a machine speaks; undefined without a disclosure. */
  readonly disclosedUs?: number | undefined;
}

/** Record of one leg, written once when it has ended. Times are integer microseconds UTC. */
export interface Cdr {
  readonly callUuid: CallUuid;
  readonly accountId: AccountId;
  /** Sub-account that made the call, or undefined for the main account. The main account is billed. */
  readonly subAccount: AccountId | undefined;
  readonly direction: CallDirection;
  readonly context: 'voice-api' | 'sip-endpoint' | 'did' | 'dial' | 'trunk';
  readonly from: string;
  readonly to: string;
  readonly callerName: string;
  readonly requestUuid: RequestUuid | undefined;
  readonly parentCallUuid: CallUuid | undefined;
  readonly bridgeUuid: CallUuid | undefined;
  readonly startUs: number;
  readonly ringUs: number | undefined;
  readonly answerUs: number | undefined;
  readonly endUs: number;
  readonly billedMs: number;
  readonly perMinute: Micros;
  readonly cost: Micros;
  readonly streamingCost: Micros;
  readonly currency: string;
  readonly hangupCause: string;
  readonly hangupCauseCode: number;
  readonly hangupCauseName: string;
  readonly hangupSource: string;
  readonly hangupDisposition: HangupDisposition;
  readonly failureReason: string | undefined;
  readonly sipCallId: string | undefined;
  readonly sipUserAgent: string | undefined;
  readonly remoteAddress: string | undefined;
  readonly carrier: string | undefined;
  readonly codec: string | undefined;
  readonly quality: MediaQuality | undefined;
  readonly endpointId: EndpointId | undefined;
  readonly trunkId: TrunkId | undefined;
  readonly terminatedTo: string | undefined;
  readonly campaignId: string | undefined;
  readonly machine: boolean | undefined;
  /**
   * Result of verifying the caller's identity (STIR), and its attestation `A`, `B`, `C` or ''. Absent in records of
   * earlier versions.
   */
  readonly stirVerification?: string | undefined;
  readonly stirAttestation?: string | undefined;
  /** Answer to a request for consent, with its time in microseconds; undefined if the party was not asked. */
  readonly consent?: 'given' | 'refused' | undefined;
  readonly consentUs?: number | undefined;
  readonly streams: readonly StreamCdr[];
}

/** A stored record with its sequence number and creation time. */
export interface CdrRecord {
  readonly number: number;
  readonly createdUs: number;
  readonly cdr: Cdr;
}

/** Number in records from which the number was erased. */
export const ERASED = 'erased';

/** Filters of the list (dialect §3.6), combined with AND. An absent filter matches everything. */
export interface CdrFilter extends OwnerFilter, PartyFilter {
  /** Inclusive bounds of the start of the call, microseconds UTC. */
  readonly startFromUs?: number | undefined;
  readonly startToUs?: number | undefined;
  /** Inclusive bounds of the end of the call, microseconds UTC. */
  readonly endFromUs?: number | undefined;
  readonly endToUs?: number | undefined;
  readonly direction?: CallDirection | undefined;
  /** Minimum answered time, in milliseconds. */
  readonly minAnsweredMs?: number | undefined;
  /** Inclusive bounds of the answered time, rounded to whole seconds as displayed. */
  readonly answeredFromMs?: number | undefined;
  readonly answeredToMs?: number | undefined;
  readonly sipCallId?: string | undefined;
  readonly bridgeUuid?: CallUuid | undefined;
  readonly parentCallUuid?: CallUuid | undefined;
  readonly hangupCause?: string | undefined;
  readonly hangupCauseCode?: number | undefined;
  readonly hangupSource?: string | undefined;
  readonly hangupDisposition?: string | undefined;
  readonly context?: string | undefined;
  readonly campaignId?: string | undefined;
  /** Case-insensitive substring of either number, the call UUID or the caller's name. */
  readonly search?: string | undefined;
  readonly trunkId?: string | undefined;
  /** Inclusive bounds of the voice and stream charges. */
  readonly costFrom?: Micros | undefined;
  readonly costTo?: Micros | undefined;
  /** True: only calls during which one direction had no audio. */
  readonly oneWayAudio?: true | undefined;
}

/** Inclusive bounds of the mean opinion score of the received audio. A call without a score does not match. */
export interface MosRange {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** Part of a set, latest first, found by reading a limited number of records. */
export interface CdrSearch {
  readonly items: readonly CdrRecord[];
  /** Number from which an older part continues. Undefined at the end of the set. */
  readonly before: number | undefined;
  /** True if the search stopped at its limit of records, not because `items` is full. */
  readonly hasReachedLimit: boolean;
  /** Start of the oldest call that was examined, microseconds UTC. */
  readonly searchedToUs: number | undefined;
}

/** Calls that started in one hour. */
export interface HourlyCalls {
  /** Start of the hour, microseconds UTC. */
  readonly startUs: number;
  readonly calls: number;
  readonly answered: number;
  readonly talkUs: number;
  /** Sum of voice and stream charges. */
  readonly cost: Micros;
}

/** Sums over the whole filtered set. */
export interface CdrSummary {
  readonly totalCalls: number;
  readonly answeredCalls: number;
  /** Sum of call durations, including ringing. */
  readonly totalDurationUs: number;
  readonly totalAnsweredUs: number;
  readonly totalBilledMs: number;
  /** Sum of voice and stream charges. */
  readonly totalCost: Micros;
  readonly lastCallUs: number | undefined;
}

/** Calls of one direction that started on one UTC day. */
export interface DailyCalls {
  /** Day number: days since 1970-01-01. */
  readonly day: number;
  readonly direction: CallDirection;
  readonly calls: number;
  readonly answered: number;
  readonly talkUs: number;
  readonly billedMs: number;
}

/** Stored timeline of a call. */
export interface CallTimeline {
  readonly accountId: AccountId;
  readonly lines: readonly CallLogEntry[];
}
