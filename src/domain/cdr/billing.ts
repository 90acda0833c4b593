import { secondsOf } from '../../base/duration.ts';
import { assert } from '../../base/errors.ts';
import { type Micros, micros, priceOf, pulsedMs, pulsesBegun, ZERO } from '../../base/money.ts';
import type { NewEntry } from '../ledger/types.ts';
import type { OpenCall, OpenStream } from './needs.ts';
import type { Cdr, StreamCdr, StreamTermination } from './types.ts';

/** Facts that the end of a call adds to its open record. */
export type CallEnd = Pick<
  Cdr,
  | 'endUs'
  | 'hangupCause'
  | 'hangupCauseCode'
  | 'hangupCauseName'
  | 'hangupSource'
  | 'hangupDisposition'
>;

/** The parts of an open call that its final record needs. */
export type Closing = Pick<OpenCall, 'cdr' | 'pulseMs' | 'streamPulseMs' | 'reserved' | 'streams'>;

/**
 * Returns the final record of an open call. Answered time and streams are priced by pulses (spec: Limits, billing
 * pulse). An unanswered leg costs nothing. Open streams end with the call, for `reason`. The charge never exceeds the
 * reservation: the billed end of a call or stream is moved back to where it was used up.
 */
export function closeCall(call: Closing, end: CallEnd, reason: StreamTermination): Cdr {
  const { cdr } = call;
  const { endUs, billedMs } = paidVoice(call, end);
  const cost = billedMs === 0 ? ZERO : priceOf(billedMs, cdr.perMinute);
  const streams = paidStreams(
    streamsAtEnd(call, endUs, reason),
    micros(Math.max(0, call.reserved - cost)),
    call.streamPulseMs,
  );
  const streamingCost = micros(streams.reduce((sum, stream) => sum + stream.billedAmount, 0));
  assert(cost + streamingCost <= call.reserved, 'a charge never exceeds what was reserved');
  const { hangupCause, hangupCauseCode, hangupCauseName, hangupSource, hangupDisposition } = end;
  return {
    ...cdr,
    hangupCause,
    hangupCauseCode,
    hangupCauseName,
    hangupSource,
    hangupDisposition,
    endUs,
    billedMs,
    cost,
    streamingCost,
    streams,
  };
}

/** The parts of a running call that determine its cost: voice and streams. */
export interface Chargeable {
  readonly answerUs: number | undefined;
  readonly price: { readonly perMinute: Micros; readonly pulseMs: number };
  readonly streams: {
    readonly open: readonly OpenStream[];
    readonly past: ReadonlyArray<Pick<StreamCdr, 'billedAmount'>>;
  };
}

/** Returns the amount that must be reserved for the call to continue after `atUs`: all started pulses of voice and streams. */
export const dueAt = (call: Chargeable, atUs: number): Micros => sumAt(call, atUs, pulsesBegun);

/** Returns the charge for a call that ends at `endUs`. */
export const chargeAt = (call: Chargeable, endUs: number): Micros =>
  call.answerUs === undefined ? ZERO : sumAt(call, endUs, pulsedMs);

function sumAt(
  { answerUs, price, streams }: Chargeable,
  atUs: number,
  paidMs: (elapsedMs: number, pulseMs: number) => number,
): Micros {
  const since = (startUs: number): number => Math.max(0, atUs - startUs) / 1000;
  const voice = priceOf(paidMs(since(answerUs ?? atUs), price.pulseMs), price.perMinute);
  const open = streams.open.reduce((sum, stream) => {
    const { pulseMs, perMinute, endUs } = stream;
    // A disconnected stream starts no further pulse.
    const pulses = endUs === undefined ? paidMs : pulsedMs;
    return sum + priceOf(pulses(connectedUs(stream, atUs) / 1000, pulseMs), perMinute);
  }, 0);
  return micros(streams.past.reduce((sum, { billedAmount }) => sum + billedAmount, voice + open));
}

/** Hangup cause of an answered call whose media was never established. It is not billed (spec, Call-level failures). */
const MEDIA_ANCHORING = 2070;

/** Returns the billed voice time: up to the end of the call, or of the last pulse that `reserved` covers. */
function paidVoice(
  { cdr, pulseMs, reserved }: Closing,
  { endUs, hangupCauseCode }: CallEnd,
): { readonly endUs: number; readonly billedMs: number } {
  const { answerUs, perMinute } = cdr;
  const neverHeard =
    hangupCauseCode === MEDIA_ANCHORING && answerUs !== undefined && endUs <= answerUs;
  if (answerUs === undefined || neverHeard) return { endUs, billedMs: 0 };
  const begun = pulsedFrom(answerUs, endUs, pulseMs);
  if (priceOf(begun, perMinute) <= reserved) return { endUs, billedMs: begun };
  // Prices are rounded up, so this number of pulses never costs more than the reservation.
  const billedMs = Math.floor((reserved * 60) / (perMinute * secondsOf(pulseMs))) * pulseMs;
  return { endUs: Math.min(endUs, answerUs + billedMs * 1000), billedMs };
}

function streamsAtEnd(
  { cdr, streams }: Closing,
  endUs: number,
  reason: StreamTermination,
): readonly StreamCdr[] {
  const known = new Set(cdr.streams.map((stream) => stream.streamId));
  const open = streams.filter((stream) => !known.has(stream.streamId));
  return [
    ...cdr.streams,
    ...open.map((stream) => closeStream(stream, endUs, cdr.currency, reason)),
  ];
}

/** Shortens streams to what `left` pays for, in order. A stream without remaining money costs nothing. */
function paidStreams(
  streams: readonly StreamCdr[],
  left: Micros,
  pulseMs: number,
): readonly StreamCdr[] {
  let rest: number = left;
  return streams.map((stream) => {
    const paid = stream.billedAmount <= rest ? stream : shortened(stream, rest, pulseMs);
    rest -= paid.billedAmount;
    return paid;
  });
}

/** Shortens a stream to whole pulses that cost at most `left`. */
function shortened(stream: StreamCdr, left: number, pulseMs: number): StreamCdr {
  const { startUs, endUs, billedMs: wholeMs, billedAmount: amount } = stream;
  const billedMs = Math.floor((left * secondsOf(wholeMs)) / amount / secondsOf(pulseMs)) * pulseMs;
  const paidUs = Math.min(stream.connectedUs, billedMs * 1000);
  return {
    ...stream,
    endUs: Math.max(startUs, endUs - (stream.connectedUs - paidUs)),
    connectedUs: paidUs,
    billedMs,
    billedAmount: micros(Math.ceil((amount * secondsOf(billedMs)) / secondsOf(wholeMs))),
  };
}

/** Returns for how long a stream was connected up to `atUs`, in microseconds. */
export function connectedUs({ earlierUs, sinceUs, endUs }: OpenStream, atUs: number): number {
  return earlierUs + Math.max(0, Math.min(endUs ?? atUs, atUs) - sinceUs);
}

/** Returns the record of a stream that ends at `endUs`. A disconnected stream ended with its last connection. */
export function closeStream(
  stream: OpenStream,
  endUs: number,
  currency: string,
  terminationReason: StreamTermination,
): StreamCdr {
  const streamEndUs = Math.max(stream.startUs, Math.min(stream.endUs ?? endUs, endUs));
  const lastedUs = connectedUs(stream, endUs);
  const billedMs = pulsedMs(lastedUs / 1000, stream.pulseMs);
  return {
    streamId: stream.streamId,
    serviceUrl: stream.serviceUrl,
    audioTrack: stream.audioTrack,
    bidirectional: stream.bidirectional,
    contentType: stream.contentType,
    startUs: stream.startUs,
    endUs: streamEndUs,
    connectedUs: lastedUs,
    billedMs,
    billedAmount: priceOf(billedMs, stream.perMinute),
    currency,
    terminationReason,
  };
}

/**
 * Returns the ledger entries of a finished call: one for voice and one per stream (spec: GET /cdr). Zero amounts have
 * no entry.
 */
export function chargesOf(cdr: Cdr): readonly NewEntry[] {
  const common = { accountId: cdr.accountId, currency: cdr.currency, type: 'debit' } as const;
  const charges: NewEntry[] = [];
  if (cdr.cost > 0) {
    charges.push({
      ...common,
      amount: cdr.cost,
      description: `Call ${cdr.direction} from ${cdr.from} to ${cdr.to}, ${secondsOf(cdr.billedMs)} s`,
      reference: `cdr:${cdr.callUuid}`,
      referenceType: 'cdr',
    });
  }
  for (const stream of cdr.streams) {
    if (stream.billedAmount === 0) continue;
    charges.push({
      ...common,
      amount: stream.billedAmount,
      description: `Audio stream of call ${cdr.callUuid}, ${secondsOf(stream.billedMs)} s`,
      reference: `stream_cdr:${stream.streamId}`,
      referenceType: 'stream_cdr',
    });
  }
  return charges;
}

const pulsedFrom = (startUs: number, endUs: number, pulseMs: number): number =>
  pulsedMs(Math.max(0, endUs - startUs) / 1000, pulseMs);
