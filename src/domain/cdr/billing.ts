import { micros, priceOf, pulsedSeconds, ZERO } from '../../base/money.ts';
import type { NewEntry } from '../ledger/types.ts';
import type { OpenCall, OpenStream } from './needs.ts';
import type { Cdr, StreamCdr, StreamTermination } from './types.ts';

/** The facts that an end adds to what was known of the call. */
export type CallEnd = Pick<
  Cdr,
  | 'endUs'
  | 'hangupCause'
  | 'hangupCauseCode'
  | 'hangupCauseName'
  | 'hangupSource'
  | 'hangupDisposition'
>;

/**
 * The final record of a call that is open: answered time and streams priced by pulses (spec: Limits, billing pulse).
 * An unanswered leg costs nothing. Streams that are still open end with the call, for `reason`.
 */
export function closeCall(call: OpenCall, end: CallEnd, reason: StreamTermination): Cdr {
  const { cdr } = call;
  const known = new Set(cdr.streams.map((stream) => stream.streamId));
  const streams = [
    ...cdr.streams,
    ...call.streams
      .filter((stream) => !known.has(stream.streamId))
      .map((stream) => closeStream(stream, end.endUs, cdr.currency, reason)),
  ];
  const billedSeconds =
    cdr.answerUs === undefined ? 0 : pulsedFrom(cdr.answerUs, end.endUs, call.pulseSeconds);
  return {
    ...cdr,
    ...end,
    billedSeconds,
    cost: billedSeconds === 0 ? ZERO : priceOf(billedSeconds, cdr.perMinute),
    streamingCost: micros(streams.reduce((sum, stream) => sum + stream.billedAmount, 0)),
    streams,
  };
}

/** A stream's record when it ends at `endUs`, or when it ended already. */
export function closeStream(
  stream: OpenStream,
  endUs: number,
  currency: string,
  terminationReason: StreamTermination,
): StreamCdr {
  const streamEndUs = stream.endUs ?? Math.max(endUs, stream.startUs);
  const billedSeconds = pulsedFrom(stream.startUs, streamEndUs, stream.pulseSeconds);
  return {
    streamId: stream.streamId,
    serviceUrl: stream.serviceUrl,
    audioTrack: stream.audioTrack,
    bidirectional: stream.bidirectional,
    contentType: stream.contentType,
    startUs: stream.startUs,
    endUs: streamEndUs,
    billedSeconds,
    billedAmount: priceOf(billedSeconds, stream.perMinute),
    currency,
    terminationReason,
  };
}

/** Ledger entries of a finished call: voice, and each stream on its own (spec: GET /cdr). Nothing costs: no entry. */
export function chargesOf(cdr: Cdr): readonly NewEntry[] {
  const common = { accountId: cdr.accountId, currency: cdr.currency, type: 'debit' } as const;
  const charges: NewEntry[] = [];
  if (cdr.cost > 0) {
    charges.push({
      ...common,
      amount: cdr.cost,
      description: `Call ${cdr.direction} from ${cdr.from} to ${cdr.to}, ${cdr.billedSeconds} s`,
      reference: `cdr:${cdr.callUuid}`,
      referenceType: 'cdr',
    });
  }
  for (const stream of cdr.streams) {
    if (stream.billedAmount === 0) continue;
    charges.push({
      ...common,
      amount: stream.billedAmount,
      description: `Audio stream of call ${cdr.callUuid}, ${stream.billedSeconds} s`,
      reference: `stream_cdr:${stream.streamId}`,
      referenceType: 'stream_cdr',
    });
  }
  return charges;
}

const pulsedFrom = (startUs: number, endUs: number, pulseSeconds: number): number =>
  pulsedSeconds(Math.max(0, endUs - startUs) / 1000, pulseSeconds);
