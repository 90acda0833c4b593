import { secondsOf } from '../../base/duration.ts';
import { assert } from '../../base/errors.ts';
import { type Micros, micros, priceOf, pulsedMs, pulsesBegun, ZERO } from '../../base/money.ts';
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

/** What an open call is closed by. */
export type Closing = Pick<OpenCall, 'cdr' | 'pulseMs' | 'streamPulseMs' | 'reserved' | 'streams'>;

/**
 * The final record of a call that is open: answered time and streams priced by pulses (spec: Limits, billing pulse).
 * An unanswered leg costs nothing. Streams that are still open end with the call, for `reason`. What was not reserved is
 * not charged: the call, or a stream of it, is booked as ended where what was held for it had been used up.
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

/** What a call that lives costs: its voice and each of its streams. */
export interface Chargeable {
  readonly answerUs: number | undefined;
  readonly price: { readonly perMinute: Micros; readonly pulseMs: number };
  readonly streams: {
    readonly open: readonly OpenStream[];
    readonly past: ReadonlyArray<Pick<StreamCdr, 'billedAmount'>>;
  };
}

/** What has to be held for a call to go on after `atUs`: pulses begun of the voice and of every stream. */
export const dueAt = (call: Chargeable, atUs: number): Micros => sumAt(call, atUs, pulsesBegun);

/** What is charged for a call that ends at `endUs`. */
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
    // Without a connection no further pulse begins.
    const pulses = endUs === undefined ? paidMs : pulsedMs;
    return sum + priceOf(pulses(connectedUs(stream, atUs) / 1000, pulseMs), perMinute);
  }, 0);
  return micros(streams.past.reduce((sum, { billedAmount }) => sum + billedAmount, voice + open));
}

/** An answered call whose media never came about is billed nothing (spec, Call-level failures). */
const MEDIA_ANCHORING = 2070;

/** The voice up to its end, or up to the end of the last pulse that `reserved` covers. */
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
  // A price is rounded up: so many pulses never cost more than is reserved.
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

/** Streams as far as `left` pays for them, the first ones first; one that was begun without money cost nothing. */
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

/** By whole pulses, so far that it costs no more than `left`. */
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

/** How long a stream was connected up to `atUs`. */
export function connectedUs({ earlierUs, sinceUs, endUs }: OpenStream, atUs: number): number {
  return earlierUs + Math.max(0, Math.min(endUs ?? atUs, atUs) - sinceUs);
}

/** A stream's record when it ends at `endUs`; one that is not connected ended with its last connection. */
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

/** Ledger entries of a finished call: voice, and each stream on its own (spec: GET /cdr). Nothing costs: no entry. */
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
