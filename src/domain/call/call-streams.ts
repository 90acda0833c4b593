/** Audio streams of one call, for its CDR and for billing. */
import type { StreamId } from '../../base/ids.ts';
import { micros, ZERO } from '../../base/money.ts';
import { closeStream, connectedUs } from '../cdr/cdr.ts';
import type { OpenStream } from '../cdr/needs.ts';
import type { StreamCdr, StreamTermination, TurnSummary } from '../cdr/types.ts';
import type { CallPrice } from './identity.ts';

/**
 * Maximum number of records of finished streams per call, which a document that opens streams in a loop exceeds. Further
 * streams are billed as connections of a recorded one.
 */
const MAX_RECORDED = 200;
/** Maximum number of refused streams in a record. */
const MAX_REFUSED = 20;

/** Recorded facts of a stream, without secrets. `streamId` is the ID of the first connection. */
export type StreamFacts = Pick<
  OpenStream,
  'streamId' | 'serviceUrl' | 'audioTrack' | 'bidirectional' | 'contentType'
>;

export interface StreamEnd {
  readonly atUs: number;
  readonly reason: StreamTermination;
  readonly turns?: TurnSummary;
  readonly disclosedUs?: number;
}

/** Audio streams of one call. Times are microseconds on the call's timeline. Methods return false for unknown streams. */
export class CallStreams {
  readonly #price: CallPrice;
  #open: readonly OpenStream[] = [];
  #past: readonly StreamCdr[] = [];

  constructor(price: CallPrice) {
    this.#price = price;
  }

  get open(): readonly OpenStream[] {
    return this.#open;
  }

  get past(): readonly StreamCdr[] {
    return this.#past;
  }

  opened(stream: StreamFacts, startUs: number): void {
    const { streamPerMinute: perMinute, streamPulseMs: pulseMs } = this.#price;
    const times = { startUs, earlierUs: 0, sinceUs: startUs, endUs: undefined };
    this.#open = [...this.#open, { ...stream, ...times, perMinute, pulseMs }];
  }

  /** Marks the connection of a stream as lost. Time without a connection is not billed. */
  lost(streamId: StreamId, atUs: number): boolean {
    return this.#change(streamId, (stream) => ({ ...stream, endUs: atUs }));
  }

  /** Marks a stream as connected again. */
  resumed(streamId: StreamId, sinceUs: number): boolean {
    return this.#change(streamId, (stream) => ({
      ...stream,
      earlierUs: connectedUs(stream, sinceUs),
      sinceUs,
      endUs: undefined,
    }));
  }

  closed(streamId: StreamId, { atUs, reason, turns, disclosedUs }: StreamEnd): boolean {
    const open = this.#open.find((stream) => stream.streamId === streamId);
    if (open === undefined) return false;
    this.#open = this.#open.filter((stream) => stream !== open);
    const closed = closeStream(open, atUs, this.#price.currency, reason);
    const facts = { ...(turns && { turns }), ...(disclosedUs !== undefined && { disclosedUs }) };
    this.#past = withRecord(this.#past, { ...closed, ...facts });
    return true;
  }

  /** Records a stream that no bot accepted, with zero length and no charge. */
  refused(stream: StreamFacts, { atUs, reason }: StreamEnd): void {
    if (this.#past.filter(({ billedMs }) => billedMs === 0).length >= MAX_REFUSED) return;
    this.#past = [
      ...this.#past,
      {
        ...stream,
        startUs: atUs,
        endUs: atUs,
        connectedUs: 0,
        billedMs: 0,
        billedAmount: ZERO,
        currency: this.#price.currency,
        terminationReason: reason,
      },
    ];
  }

  #change(streamId: StreamId, changed: (stream: OpenStream) => OpenStream): boolean {
    const isMeant = (stream: OpenStream): boolean => stream.streamId === streamId;
    if (!this.#open.some(isMeant)) return false;
    this.#open = this.#open.map((stream) => (isMeant(stream) ? changed(stream) : stream));
    return true;
  }
}

/** Adds a record. Beyond the limit, it extends the latest record of the same bot, or else the latest record. */
function withRecord(past: readonly StreamCdr[], added: StreamCdr): readonly StreamCdr[] {
  const same = past.findLastIndex(({ serviceUrl }) => serviceUrl === added.serviceUrl);
  const extended = past.at(same);
  if (past.length < MAX_RECORDED || extended === undefined) return [...past, added];
  return past.with(same, {
    ...extended,
    endUs: Math.max(extended.endUs, added.endUs),
    connectedUs: extended.connectedUs + added.connectedUs,
    billedMs: extended.billedMs + added.billedMs,
    billedAmount: micros(extended.billedAmount + added.billedAmount),
    terminationReason: added.terminationReason,
  });
}
