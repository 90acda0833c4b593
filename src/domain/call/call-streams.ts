/** The audio streams of one call, as its records tell of them. */
import type { StreamId } from '../../base/ids.ts';
import { ZERO } from '../../base/money.ts';
import { closeStream, connectedUs } from '../cdr/cdr.ts';
import type { OpenStream } from '../cdr/needs.ts';
import type { StreamCdr, StreamTermination } from '../cdr/types.ts';
import type { CallPrice } from './identity.ts';

/** Streams that are recorded one by one; a document that opens them for ever cannot grow a record. */
const MAX_RECORDED = 200;
/** Streams that no bot took and that are told all the same. */
const MAX_REFUSED = 20;

/** Fit to be recorded: free of secrets. `streamId`: of its first connection. */
export type StreamFacts = Pick<
  OpenStream,
  'streamId' | 'serviceUrl' | 'audioTrack' | 'bidirectional' | 'contentType'
>;

export interface StreamEnd {
  readonly atUs: number;
  readonly reason: StreamTermination;
}

/** Moments are microseconds in the time of the call. Answers are false for a stream that is not recorded. */
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
    if (this.#open.length + this.#past.length >= MAX_RECORDED) return;
    const { streamPerMinute: perMinute, streamPulseMs: pulseMs } = this.#price;
    const times = { startUs, earlierUs: 0, sinceUs: startUs, endUs: undefined };
    this.#open = [...this.#open, { ...stream, ...times, perMinute, pulseMs }];
  }

  /** Its connection has broken: time without one does not count. */
  lost(streamId: StreamId, atUs: number): boolean {
    return this.#change(streamId, (stream) => ({ ...stream, endUs: atUs }));
  }

  /** It is connected once more. */
  resumed(streamId: StreamId, sinceUs: number): boolean {
    return this.#change(streamId, (stream) => ({
      ...stream,
      earlierUs: connectedUs(stream, sinceUs),
      sinceUs,
      endUs: undefined,
    }));
  }

  closed(streamId: StreamId, { atUs, reason }: StreamEnd): boolean {
    const open = this.#open.find((stream) => stream.streamId === streamId);
    if (open === undefined) return false;
    this.#open = this.#open.filter((stream) => stream !== open);
    const closed = closeStream(open, atUs, this.#price.currency, reason);
    this.#past = [...this.#past, closed];
    return true;
  }

  /** No bot ever took it: the record says so, for a length of nothing and without a charge. */
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
